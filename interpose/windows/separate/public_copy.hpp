// The public copy of a member's device memory, in host memory, to which the MPI library lets other members.
// The device memory is the private copy then, as in MPI's separate memory model. Knows no window and no MPI
// call.
#pragma once

#include <cstddef>
#include <mutex>

#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"

namespace penstock::interpose {

/// Does not own the device memory. Thread: any.
class PublicCopy {
 public:
  /// `base`: device memory of this process. No bytes are copied yet.
  PublicCopy(void* base, std::size_t bytes) noexcept;
  /// The public copy is `given`, which stays the caller's and which others may already access.
  PublicCopy(void* base, std::size_t bytes, void* given) noexcept;

  /// Returns the public copy; null: there is no host memory for it.
  [[nodiscard]] void* address() const noexcept { return known_ ? public_ : nullptr; }
  [[nodiscard]] void* base() const noexcept { return base_; }
  /// Returns true once the program has freed the device memory: nobody reads what others have put.
  [[nodiscard]] bool is_freed() const noexcept;

  /// Begins with what the given public copy holds, also in device memory, which nobody uses yet: what differs
  /// later was stored.
  [[nodiscard]] Status begin_alike() noexcept;
  /// Waits, with progress, for what is queued on the memory's GPU. Then what has changed in device memory
  /// since the last call goes to the public copy, and what has changed there goes to device memory. Bytes
  /// that are changed meanwhile are copied by this call or by the next. Cost: a copy of the whole device
  /// memory, and two comparisons. Errors: bad_argument, the memory was freed.
  [[nodiscard]] Status make_alike(const char* reason) noexcept;

 private:
  /// What has changed in device memory, of which `found` was just read from `offset` on, goes to the public
  /// copy.
  void publish(std::size_t offset, const std::byte* found, std::size_t bytes) noexcept;
  /// What has changed in the public copy goes to device memory. `packed`: working memory.
  /// Errors: also std::bad_alloc.
  [[nodiscard]] Status accept(std::size_t offset, std::byte* packed, std::size_t bytes, const char* reason);

  void* base_;
  std::size_t bytes_;
  transports::HostMapping own_;  ///< memory for the public copy, if none was given
  std::byte* public_;
  transports::HostMapping known_;  ///< what device memory and public copy held when they were last alike
  std::mutex mutex_;
};

}  // namespace penstock::interpose
