#include "interpose/record/gpu/issuing_calls.hpp"

#include <atomic>

namespace penstock::record {

template <typename Visit>
void IssuingCalls::for_activities_of(std::uint32_t correlation, Visit visit) const noexcept {
  if (!activities_ || !latest_) return;
  std::uint32_t ordinal = latest_[correlation % activities];
  // Ordinals decrease along a chain, which ends where the ring has been overwritten.
  while (ordinal != 0 && ordinal_ - ordinal < activities) {
    const Activity& activity = activities_[ordinal % activities];
    if (activity.where.block < oldest_block_) return;  // as are those before it in the chain
    if (activity.correlation == correlation) visit(activity.where);
    ordinal = activity.previous;
  }
}

void IssuingCalls::call_is_own(std::uint32_t correlation) noexcept {
  if (!own_calls_) return;
  own_calls_[correlation % own_calls] = correlation;
  for_activities_of(correlation, [](const Written& where) {
    std::atomic_ref<std::uint8_t>(*where.own).store(1, std::memory_order_relaxed);
  });
}

bool IssuingCalls::is_own(std::uint32_t correlation) const noexcept {
  return own_calls_ && correlation != 0 && own_calls_[correlation % own_calls] == correlation;
}

void IssuingCalls::call_was_by(std::uint32_t correlation, Issue issue) noexcept {
  if (!callers_ || issue.thread_id == 0) return;
  callers_[correlation % activities] = {correlation, issue};
  for_activities_of(correlation, [issue](const Written& where) {
    if (where.thread_id == nullptr) return;
    std::atomic_ref<std::uint32_t>(*where.thread_id).store(issue.thread_id, std::memory_order_relaxed);
    std::atomic_ref<std::uint64_t>(*where.issued_ns).store(issue.at_ns, std::memory_order_relaxed);
  });
}

IssuingCalls::Issue IssuingCalls::issue_of(std::uint32_t correlation) const noexcept {
  if (!callers_ || correlation == 0) return {};
  const Caller& caller = callers_[correlation % activities];
  return caller.correlation == correlation ? caller.issue : Issue{};
}

void IssuingCalls::remember(std::uint32_t correlation, Written where) noexcept {
  if (!activities_ || !latest_) return;
  if (++ordinal_ == 0) ordinal_ = 1;
  std::uint32_t& latest = latest_[correlation % activities];
  activities_[ordinal_ % activities] = {correlation, latest, where};
  latest = ordinal_;
}

}  // namespace penstock::record
