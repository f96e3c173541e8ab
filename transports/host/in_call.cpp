#include "transports/host/in_call.hpp"

#include <chrono>
#include <utility>

namespace penstock::transports {
namespace {

/// The MPI call of the program's only thread. Other threads (Penstock's own) may read it at any time.
struct Caller {
  std::atomic<bool> is_the_only_one{false};
  std::atomic<bool> is_inside{false};
} caller;

/// The calls of this thread. Plain data in the static TLS block.
struct Calls {
  std::uint64_t count = 0;       ///< of outermost calls so far
  std::uint64_t time_ns = 0;     ///< in the latest; 0: not read yet
  std::uint64_t earlier_ns = 0;  ///< AsOfCall's; 0: none
  unsigned depth = 0;
  CallSign sign{};  ///< shown by this thread
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Calls calls;

void flip(const CallSign& sign, std::uint64_t bits) noexcept {
  if (sign.word != nullptr) sign.word->fetch_xor(bits, std::memory_order_release);
}

}  // namespace

void set_single_threaded(bool single_threaded) noexcept {
  caller.is_the_only_one.store(single_threaded, std::memory_order_relaxed);
}

void InCall::enter() noexcept {
  is_outermost_ = calls.depth++ == 0;
  if (!is_outermost_) return;
  ++calls.count;
  calls.time_ns = 0;
  is_the_only_thread_ = caller.is_the_only_one.load(std::memory_order_relaxed);
  if (!is_the_only_thread_) return;
  flip(calls.sign, calls.sign.inside | calls.sign.changed);
  caller.is_inside.store(true, std::memory_order_relaxed);
}

void InCall::leave() noexcept {
  --calls.depth;
  if (!is_outermost_ || !is_the_only_thread_) return;
  caller.is_inside.store(false, std::memory_order_relaxed);
  flip(calls.sign, calls.sign.inside);
}

void begin_next_call() noexcept {
  ++calls.count;
  calls.time_ns = 0;
  if (calls.depth != 0 && caller_is_inside()) flip(calls.sign, calls.sign.changed);
}

std::uint64_t number_of_call() noexcept {
  return calls.depth == 0 ? 0 : calls.count;
}

AsOfCall::AsOfCall(std::uint64_t time_of_call_ns) noexcept
    : before_ns_(std::exchange(calls.earlier_ns, time_of_call_ns)) {}

AsOfCall::~AsOfCall() {
  calls.earlier_ns = before_ns_;
}

std::uint64_t time_of_call_ns() noexcept {
  if (calls.earlier_ns != 0) return calls.earlier_ns;
  if (calls.depth == 0) return steady_now_ns();
  if (calls.time_ns == 0) calls.time_ns = steady_now_ns();
  return calls.time_ns;
}

bool caller_is_inside() noexcept {
  return caller.is_inside.load(std::memory_order_relaxed);
}

void show_calls(const CallSign& sign) noexcept {
  if (calls.depth == 0 || !caller_is_inside() || calls.sign.word == sign.word) return;
  flip(calls.sign, calls.sign.inside);
  calls.sign = sign;
  flip(sign, sign.inside | sign.changed);
}

std::uint64_t steady_now_ns() noexcept {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(since_start).count());
}

}  // namespace penstock::transports
