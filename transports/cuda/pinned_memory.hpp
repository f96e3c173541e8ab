// Host memory of Penstock's own that the GPU copies to and from at full speed: registered with CUDA rather
// than allocated by it, so that the memory outlives the application's contexts. Knows no messages.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>

#include "transports/cuda/context.hpp"
#include "transports/host_mapping.hpp"

namespace penstock::transports::cuda {

/// Registers a range of host memory with CUDA at first need, again when the context it was registered in has
/// died. A refusal (no more pinned memory) is no error: copies are then slower and make their caller wait.
/// Owns: the registration, not the memory. Thread: any.
class Registration {
 public:
  Registration(void* memory, std::size_t bytes) noexcept : memory_(memory), bytes_(bytes) {}
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// `context` must be current.
  void ensure(const ContextRef& context) noexcept;

 private:
  void* memory_;
  std::size_t bytes_;
  std::mutex mutex_;
  ContextRef tried_in_;
  bool registered_ = false;
};

/// Two halves, so that the CPU works on one while the GPU copies the other. Thread: one at a time.
class Bounce {
 public:
  static constexpr std::size_t half_bytes = 1u << 20;
  explicit Bounce(HostMapping mapping) noexcept
      : mapping_(std::move(mapping)), registration_(mapping_.address(), mapping_.bytes()) {}
  [[nodiscard]] char* half(std::size_t index) const noexcept {
    return mapping_.address() + index % 2 * half_bytes;
  }

  /// Returns it to the pool when it goes.
  struct GiveBack {
    void operator()(Bounce* bounce) const noexcept;
  };
  using Loan = std::unique_ptr<Bounce, GiveBack>;
  /// Null if there is no memory. `context` must be current.
  [[nodiscard]] static Loan take(const ContextRef& context);
  static void drop_idle() noexcept;

 private:
  HostMapping mapping_;
  Registration registration_;
};

}  // namespace penstock::transports::cuda
