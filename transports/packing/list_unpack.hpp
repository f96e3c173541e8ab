// The receiver's side of a list that travels as a bitmap: takes device memory of Penstock's own for the
// bitmap, and unpacks the list from it. This header knows no message and no transport.
#pragma once

#include <cstdint>
#include <memory>

#include "transports/cuda/flagged_launch.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::transports {

/// Owns the room. Thread: one at a time.
class ListUnpack {
 public:
  /// Takes room for any bitmap of such a list, and all that unpacking needs. `list` must be contiguous memory
  /// of a device and stay until the end or the destructor. `declined` if it cannot be unpacked there, or
  /// memory is on loan now; out_of_memory: the device has none.
  [[nodiscard]] static Status take_room(const BufferView& list, Integer integer,
                                        std::unique_ptr<ListUnpack>& unpack) noexcept;
  ListUnpack(const BufferView& list, Integer integer, cuda::ContextRef context,
             cuda::RelaySlice memory) noexcept;

  /// Returns the destination of a bitmap of that many words. Null: there is no room for it, or there can be
  /// none.
  [[nodiscard]] const BufferView* room(std::uint64_t words);
  /// Unpacks the list once the bitmap has arrived, after what the application has queued on the list's
  /// memory.
  [[nodiscard]] Status start() noexcept;
  /// Never blocks. `peer_lost`: the bitmap is not of a list of that size; only the list has been written.
  [[nodiscard]] Status advance(bool& ended) noexcept;

 private:
  [[nodiscard]] Status prepare() noexcept;
  [[nodiscard]] Status launch() noexcept;

  const BufferView list_;
  const Integer integer_;
  cuda::ContextRef context_;
  cuda::RelaySlice memory_;
  BufferView room_;
  std::uint64_t words_ = 0;
  CUstream stream_ = nullptr;
  cuda::FlaggedLaunch launch_{"a kernel that unpacks lists, which did not signal its end,"};
};

}  // namespace penstock::transports
