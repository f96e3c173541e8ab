// A context's host memory for completion flags, and the mailbox and bounce buffer of its standby kernel. Each
// context has its own, because the registration goes with the context; the memory stays, so that who polls a
// flag of a dead context reads a word and not a fault.
#pragma once

#include <cstdint>

#include "transports/host/host_mapping.hpp"
#include "transports/host/status.hpp"
#include "transports/kernels/standby.hpp"

namespace penstock::transports::cuda {

/// Owns: the memory. Thread: words are the business of who has the slot.
class FlagPage {
 public:
  /// Pins the page; the context must be current.
  [[nodiscard]] Status map() noexcept;
  /// Before it goes, if the context lives: with the context current.
  void unregister() const noexcept;

  [[nodiscard]] std::uint32_t* word(std::uint32_t slot) const noexcept;
  /// A flag's address as kernels see it.
  [[nodiscard]] std::uint32_t* device_word(std::uint32_t slot) const noexcept;

  [[nodiscard]] kernels::StandbyMailbox* mailbox() const noexcept;
  [[nodiscard]] kernels::StandbyMailbox* device_mailbox() const noexcept;
  /// kernels::bounce_bytes, each.
  [[nodiscard]] char* bounce() const noexcept;
  [[nodiscard]] char* device_bounce() const noexcept;

 private:
  HostMapping memory_;
  char* device_address_ = nullptr;
};

}  // namespace penstock::transports::cuda
