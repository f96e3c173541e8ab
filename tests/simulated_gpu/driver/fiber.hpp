// A stack that can be left and come back to, for thread blocks with barriers: Boost.Context's switch,
// announced to AddressSanitizer and ThreadSanitizer, which otherwise take a switched stack for a corrupted
// one.
#pragma once

#include <functional>
#include <memory>

namespace simulated_gpu {

/// Owns: its stack (pooled by thread). Thread: created, resumed and destroyed on one thread. Never throws
/// across a switch. Must have finished when it is destroyed.
class Fiber {
 public:
  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs the body on its stack until it returns or calls `leave`.
  void resume();
  /// Inside the body: back to who resumed it.
  void leave();
  [[nodiscard]] bool finished() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace simulated_gpu
