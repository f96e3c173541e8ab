#include "interpose/protocol/sender_limits.hpp"

#include <atomic>
#include <utility>

#include "interpose/node/policy.hpp"

namespace penstock::interpose {
namespace {

std::atomic<unsigned> rings_at_work{0};
std::atomic<bool> is_large_one_buffered{false};

}  // namespace

bool RingShare::may_take() const noexcept {
  return is_taken_ || rings_at_work.load(std::memory_order_relaxed) < policy::most_rings_at_once;
}

void RingShare::take() noexcept {
  if (!std::exchange(is_taken_, true)) rings_at_work.fetch_add(1, std::memory_order_relaxed);
}

void RingShare::end() noexcept {
  if (std::exchange(is_taken_, false)) rings_at_work.fetch_sub(1, std::memory_order_relaxed);
}

bool BufferingTurn::take() noexcept {
  if (!is_taken_) is_taken_ = !is_large_one_buffered.exchange(true, std::memory_order_relaxed);
  return is_taken_;
}

void BufferingTurn::end() noexcept {
  if (std::exchange(is_taken_, false)) is_large_one_buffered.store(false, std::memory_order_relaxed);
}

}  // namespace penstock::interpose
