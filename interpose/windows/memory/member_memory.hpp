// The memory of one member of a window, as this process reaches it: its own, device memory mapped by CUDA
// IPC, or host memory of another process. Copies between it and a buffer of this process. Knows no epoch and
// no MPI call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "transports/copies/pull.hpp"
#include "transports/device_memory/ipc_cache.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::interpose {

/// What a member tells the others about its memory. Trivially copyable: MPI_Iallgather carries it.
struct MemberRecord {
  transports::Offer offer;      ///< of all its memory, in one piece
  std::uint64_t bytes;          ///< 0: it has none, and the offer is empty
  std::int64_t unit;            ///< bytes of a displacement unit
  std::uint64_t probe_address;  ///< in the member's address space: where the next word lies …
  std::uint64_t probe;          ///< … by which others see that they read that process
};

/// Describes this process's memory; lets other processes of this user read and write it, if it is the host's.
[[nodiscard]] MemberRecord describe_member(void* base, std::uint64_t bytes, std::int64_t unit) noexcept;

enum class Direction : std::uint8_t { put, get };

/// Returns whether all bytes of a layout lie at offsets from 0 to `bytes`.
[[nodiscard]] bool lies_within(const transports::Layout& where, std::uint64_t bytes) noexcept;

/// Owns a share of the mapping. Thread: any. Errors: as a Status.
class MemberMemory {
 public:
  /// Memory of this process if the record names it.
  explicit MemberMemory(const MemberRecord& record) noexcept;

  /// Finds the way to the memory and tries it. Returns null, or why there is none: a literal.
  [[nodiscard]] const char* open() noexcept;

  /// Unmaps memory that its process is about to free, if the GPU is quiet. It is not accessed any more.
  void close() noexcept;

  [[nodiscard]] std::int64_t unit() const noexcept { return record_.unit; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return record_.bytes; }
  [[nodiscard]] bool is_own() const noexcept { return is_own_; }
  /// Returns whether all bytes of a layout, counted from the memory's base, are in it.
  [[nodiscard]] bool holds(const transports::Layout& where) const noexcept {
    return lies_within(where, record_.bytes);
  }
  /// Returns whether the way to this memory, which is open, leads on to other memory of its process, which
  /// lies behind it: both are host memory of one kind, or in one allocation.
  [[nodiscard]] bool leads_to(const MemberMemory& behind) const noexcept;

  /// Starts a copy between a buffer of this process and equally many bytes of the memory. `pull` stays null
  /// if it is done. Waits for what the application queued before only where no stream can.
  [[nodiscard]] Status start(Direction direction, const transports::BufferView& origin,
                             const transports::Layout& where,
                             std::unique_ptr<transports::Pull>& pull) noexcept;
  /// Copies to or from host memory, in the layout's order, and waits for that.
  [[nodiscard]] Status read(void* packed, const transports::Layout& where) noexcept;
  [[nodiscard]] Status write(const transports::Layout& where, const void* packed) noexcept;

  /// A part as kernels address it, and what keeps it mapped.
  struct ForKernels {
    void* address = nullptr;  ///< null: they do not reach it
    transports::cuda::ContextRef context = {};
    std::shared_ptr<const void> keeper = {};
  };
  /// Returns a part as kernels of the origin's context address it, if it is device memory and in one piece.
  /// If the origin is host memory, they are of a context that maps the part.
  [[nodiscard]] ForKernels for_kernels(const transports::BufferView& origin,
                                       const transports::Layout& where) const noexcept;
  /// Returns the view of a part for uploads (transports::upload_together); nothing if it is not a context's.
  [[nodiscard]] std::optional<transports::BufferView> for_uploads(const transports::Layout& where) const;
  /// Returns the memory as GPU or host of this process address it; empty if only the kernel reaches it.
  [[nodiscard]] const std::optional<transports::Buffer>& reached() const noexcept { return reached_; }

 private:
  [[nodiscard]] const char* open_mapped() noexcept;
  [[nodiscard]] const char* open_host() noexcept;
  /// The memory as this process addresses it, in a context; null: in none.
  struct Addressed {
    transports::Buffer buffer;
    transports::cuda::ContextRef context;
    std::shared_ptr<const void> keeper;
  };
  [[nodiscard]] Addressed addressed_for(const transports::BufferView& origin) const;
  [[nodiscard]] transports::BufferView view(const transports::Buffer& buffer,
                                            const transports::Layout& where) const;

  MemberRecord record_;
  bool is_own_;
  std::optional<transports::Buffer> reached_;
  std::shared_ptr<const transports::cuda::MappedRange> mapped_;
};

}  // namespace penstock::interpose
