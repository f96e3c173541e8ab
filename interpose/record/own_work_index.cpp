#include "interpose/record/own_work_index.hpp"

#include <atomic>

namespace penstock::record {

void OwnWorkIndex::call_is_own(std::uint32_t correlation) noexcept {
  if (!own_calls_ || !activities_ || !latest_) return;
  own_calls_[correlation % calls] = correlation;
  std::uint32_t ordinal = latest_[correlation % activities];
  // Ordinals decrease along a chain, which ends where the ring has been overwritten.
  while (ordinal != 0 && ordinal_ - ordinal < activities) {
    const Activity& activity = activities_[ordinal % activities];
    if (activity.correlation == correlation) {
      std::atomic_ref<std::uint8_t>(*activity.mark).store(1, std::memory_order_relaxed);
    }
    ordinal = activity.previous;
  }
}

bool OwnWorkIndex::is_own(std::uint32_t correlation) const noexcept {
  return own_calls_ && correlation != 0 && own_calls_[correlation % calls] == correlation;
}

void OwnWorkIndex::remember(std::uint32_t correlation, std::uint8_t* mark) noexcept {
  if (!own_calls_ || !activities_ || !latest_) return;
  if (++ordinal_ == 0) ordinal_ = 1;
  std::uint32_t& latest = latest_[correlation % activities];
  activities_[ordinal_ % activities] = {correlation, latest, mark};
  latest = ordinal_;
}

}  // namespace penstock::record
