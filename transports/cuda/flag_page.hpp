// A context's host memory for completion flags, and the mailbox and bounce buffer of its resident kernel.
// Each context has its own, because the registration ends with the context. The memory stays, so that polling
// a flag of a dead context reads a word and does not fault.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"
#include "transports/kernels/resident.hpp"

namespace penstock::transports::cuda {

/// Owns the memory. Thread: only the owner of a slot uses its word.
class FlagPage {
 public:
  FlagPage() noexcept = default;
  ~FlagPage();
  FlagPage(const FlagPage&) = delete;
  FlagPage& operator=(const FlagPage&) = delete;

  /// Pins the page; the context must be current.
  [[nodiscard]] Status map() noexcept;
  /// Unpins the page before it is destroyed, if the context lives; the context must be current.
  void unregister() const noexcept;
  /// Keeps the memory mapped to the end of the process: the program's thread may write into it until then.
  void keep_mapped() const noexcept { is_kept_.store(true, std::memory_order_relaxed); }

  [[nodiscard]] std::uint32_t* word(std::uint32_t slot) const noexcept;
  /// A flag's address as kernels see it.
  [[nodiscard]] std::uint32_t* device_word(std::uint32_t slot) const noexcept;

  [[nodiscard]] kernels::ResidentMailbox* mailbox() const noexcept;
  [[nodiscard]] kernels::ResidentMailbox* device_mailbox() const noexcept;
  /// kernels::bounce_bytes each.
  [[nodiscard]] char* bounce() const noexcept;
  [[nodiscard]] char* device_bounce() const noexcept;

 private:
  HostMapping memory_;
  char* device_address_ = nullptr;
  mutable std::atomic<bool> is_kept_{false};
};

}  // namespace penstock::transports::cuda
