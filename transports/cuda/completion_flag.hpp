// Words in host memory that Penstock's kernels write when they are done, so that the CPU polls memory instead
// of querying the driver (1.25 µs per query on an H200). Knows no kernel.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/cuda/context.hpp"
#include "transports/host/host_mapping.hpp"

namespace penstock::transports::cuda {

/// A loan of one of the process's slots; each slot has one loan at a time. A slot stands for a word in every
/// context's FlagPage (and for whatever else the kernels need one of for each launch). Owns the slot. Thread:
/// one at a time.
class CompletionFlag {
 public:
  CompletionFlag() noexcept = default;
  CompletionFlag(CompletionFlag&& other) noexcept;
  CompletionFlag& operator=(CompletionFlag&& other) noexcept;
  /// Gives the slot back: its kernel must have run, or never will.
  ~CompletionFlag();

  /// Takes a lowered flag in the context, which is current. Errors: out_of_memory if all are on loan.
  [[nodiscard]] static Status take(const ContextRef& context, CompletionFlag& flag) noexcept;

  /// Never reuses the slot, as the kernel may still write to it at an unknown time.
  void abandon() noexcept { context_ = nullptr; }
  void lower() noexcept { std::atomic_ref(*word_).store(0, std::memory_order_relaxed); }
  [[nodiscard]] bool is_raised() const noexcept { return value() != 0; }
  /// The value that the kernel has written; 0 before.
  [[nodiscard]] std::uint32_t value() const noexcept {
    return std::atomic_ref(*word_).load(std::memory_order_acquire);
  }
  /// Null if no flag was taken.
  [[nodiscard]] const ContextRef& context() const noexcept { return context_; }
  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
  /// The address that kernels write to: 1, or a kernel's own value.
  [[nodiscard]] std::uint32_t* device_word() const noexcept { return device_word_; }

 private:
  ContextRef context_;  ///< keeps its FlagPage
  std::uint32_t* word_ = nullptr;
  std::uint32_t* device_word_ = nullptr;
  std::uint32_t slot_ = 0;
};

}  // namespace penstock::transports::cuda
