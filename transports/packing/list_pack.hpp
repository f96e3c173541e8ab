// The sender's side of a list that travels as a bitmap: packs it, if it is such a list, in device memory of
// Penstock's own. This header knows no message and no transport.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/cuda/flagged_launch.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::transports {

/// Owns the bitmap's memory. Thread: one at a time.
class ListPack {
 public:
  /// Begins to test whether the list strictly increases (in any order: has no integer twice), and to pack it.
  /// `list` must be contiguous memory of a device and stay until the end or the destructor, and the
  /// application's earlier work on it must be complete. `declined` if it cannot be packed now: it is
  /// misaligned, too short or too large, or memory is on loan; out_of_memory: the device has none.
  [[nodiscard]] static Status start(const BufferView& list, Integer integer, ListOrder order,
                                    std::unique_ptr<ListPack>& pack) noexcept;
  explicit ListPack(cuda::RelaySlice memory) noexcept : memory_(std::move(memory)) {}

  /// Never blocks. An error is final, and the packing does not end then.
  [[nodiscard]] Status advance(bool& ended) noexcept;
  /// After the end: returns the bitmap's words. 0: it is no such list, or its bitmap is not worthwhile.
  [[nodiscard]] std::uint64_t words() const noexcept;
  /// If there are words: returns what travels instead of the list.
  [[nodiscard]] const BufferView& bitmap() const noexcept { return bitmap_; }

 private:
  [[nodiscard]] Status launch(const BufferView& list, Integer integer, ListOrder order,
                              const cuda::ContextRef& context);

  cuda::RelaySlice memory_;
  BufferView bitmap_;
  cuda::FlaggedLaunch launch_{"a kernel that packs lists, which did not signal its end,"};
};

}  // namespace penstock::transports
