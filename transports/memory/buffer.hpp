// The kind and the layout of a user's buffer: the vocabulary that transports, chooser and interposer share.
// Knows the CUDA driver's types, but neither MPI nor how bytes are moved.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/memory/block_list.hpp"
#include "transports/memory/strided_loops.hpp"

namespace penstock::transports {

/// Numbers as in the trace format.
enum class BufferKind : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  async_pool,
  virtual_memory,
  managed
};

[[nodiscard]] constexpr bool lives_on_device(BufferKind kind) noexcept {
  return kind == BufferKind::device || kind == BufferKind::async_pool || kind == BufferKind::virtual_memory ||
         kind == BufferKind::managed;
}

/// Returns whether copies must know the memory's context; managed memory is reached from any.
[[nodiscard]] constexpr bool belongs_to_context(BufferKind kind) noexcept {
  return lives_on_device(kind) && kind != BufferKind::managed;
}

[[nodiscard]] const char* name_of(BufferKind kind) noexcept;

/// One address, classified. A value; owns nothing.
struct Buffer {
  void* pointer = nullptr;
  BufferKind kind = BufferKind::pageable;
  int device = -1;  ///< driver ordinal; -1 for host memory
  CUcontext context =
      nullptr;  ///< to be current for copies; the device's primary one for pool and VMM memory
  std::uint64_t buffer_id = 0;  ///< CU_POINTER_ATTRIBUTE_BUFFER_ID; 0 for host memory
  CUdeviceptr range_base = 0;  ///< of the allocation (virtual memory: the reserved range; pinned memory: what
                               ///< was pinned in one); 0 unknown
  std::size_t range_bytes = 0;

  /// Returns whether `bytes` from `offset` on, counted from the pointer, are of the same allocation. False if
  /// that is not known.
  [[nodiscard]] bool holds(std::ptrdiff_t offset, std::uint64_t bytes) const noexcept {
    const std::uint64_t in_range =
        reinterpret_cast<std::uint64_t>(pointer) + static_cast<std::uint64_t>(offset) - range_base;
    return in_range <= range_bytes && bytes <= range_bytes - in_range;  // wraps if before the base
  }
};

/// Classifies an address. Never fails: memory that the driver does not know is pageable host memory, or
/// `unknown` if it was device memory in an earlier message and can no longer be read. Thread: any. Cost: no
/// driver call before CUDA is loaded in the process; then one attribute query. Source:
/// CU_POINTER_ATTRIBUTE_*; neither initialises CUDA nor makes a context.
[[nodiscard]] Buffer inspect(const void* pointer) noexcept;

/// The cheap query of the hot path: returns whether only a GPU can touch this memory (also if it was freed
/// since it was last seen), or whether it is managed. Null is host memory. Thread: any. Cost: a few ns until
/// libcuda is loaded in the process.
[[nodiscard]] bool is_on_device(const void* pointer) noexcept;

/// Offsets of a layout's lowest byte and of the byte behind its highest; both 0 when it is empty.
struct OffsetRange {
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t end = 0;
};

/// The layout of a message's bytes in a buffer, in the order in which they are sent. Unit: bytes. Adjacent
/// blocks are merged when it is built, so a contiguous layout has one block of count 1 (or none).
class Layout {
 public:
  Layout() = default;
  [[nodiscard]] static Layout contiguous(std::size_t bytes, std::ptrdiff_t offset = 0);

  /// Appends a block after the bytes so far; merges it if it continues or repeats the last one.
  void append(Block block);

  /// Returns the layout `repeats` times, each `extent` bytes after the one before.
  [[nodiscard]] Layout repeated(std::size_t repeats, std::ptrdiff_t extent) const;
  [[nodiscard]] Layout shifted(std::ptrdiff_t offset) const;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] bool is_contiguous() const noexcept {
    return blocks_.empty() || (blocks_.size() == 1 && blocks_[0].count == 1);
  }
  /// Offset of the first byte; 0 when empty.
  [[nodiscard]] std::ptrdiff_t first_offset() const noexcept {
    return blocks_.empty() ? 0 : blocks_[0].offset;
  }
  [[nodiscard]] std::span<const Block> blocks() const noexcept { return blocks_.all(); }

  /// Returns the layout as nested loops, if they can describe it and its size. Cost: the first time for any
  /// copy of it, a look at each block, up to the first that does not fit.
  [[nodiscard]] std::optional<StridedLoops> loops() const noexcept;

  /// As BlockList's.
  [[nodiscard]] std::shared_ptr<void>* companion() const noexcept { return blocks_.companion(); }

  /// Returns the first `bytes` of the layout (a message may be shorter than the receive it meets).
  [[nodiscard]] Layout prefix(std::size_t bytes) const;

  /// Returns the range from the lowest byte to behind the highest. Cost: a look at each block.
  [[nodiscard]] OffsetRange span() const noexcept;

 private:
  explicit Layout(const Block& piece) noexcept : blocks_(piece), bytes_(piece.bytes) {}

  BlockList blocks_;
  std::size_t bytes_ = 0;
};

struct ViewPart;

/// A message's place on one side: a buffer and how the bytes lie in it.
struct BufferView {
  Buffer buffer;
  Layout layout;
  std::uint64_t handed_over_ns = 0;  ///< steady clock: when the application's call gave it to us; its later
                                     ///< work on the GPU does not concern us. 0: now
  bool is_free = false;              ///< no work that the application queued before uses it
  /// Not null: the bytes lie in several allocations (find_parts() of device_memory/parts.hpp), and `buffer`
  /// stands for one of them that a GPU owns. No transport and no kernel carries such a view; download() and
  /// upload() (copy_selection/blocking_copy.hpp) do, part by part.
  std::shared_ptr<const std::vector<ViewPart>> parts = nullptr;

  [[nodiscard]] bool is_scattered() const noexcept { return parts != nullptr; }
  [[nodiscard]] char* first_byte() const noexcept {
    return static_cast<char*>(buffer.pointer) + layout.first_offset();
  }
  /// True if the view is in one piece, and pinned from its first byte to its last, so that kernels reach it.
  [[nodiscard]] bool is_pinned_throughout() const noexcept {
    return buffer.kind == BufferKind::pinned && layout.is_contiguous() &&
           buffer.holds(layout.first_offset(), layout.bytes());
  }
};

/// The part of a scattered view that lies in one allocation, or in host memory: a view that is not
/// scattered, and where its bytes are in the message.
struct ViewPart {
  BufferView view;
  Layout packed;
};

}  // namespace penstock::transports
