// Now and then: tells a loop that polls when to look for something rare, such as the other side's death.
#pragma once

#include <chrono>

namespace penstock::transports {

/// Thread: one at a time. Cost: reads the clock (20 ns) with every question, and only then.
class Watch {
 public:
  explicit Watch(std::chrono::nanoseconds interval = std::chrono::milliseconds(100)) noexcept
      : interval_(interval) {}

  /// True once every interval at most, the first time so long after it was first asked, or after the last
  /// progress().
  [[nodiscard]] bool is_due() noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (last_ == never) last_ = now;
    if (now - last_ < interval_) return false;
    last_ = now;
    return true;
  }
  void progress() noexcept { last_ = std::chrono::steady_clock::now(); }

 private:
  static constexpr std::chrono::steady_clock::time_point never{};

  std::chrono::nanoseconds interval_;
  std::chrono::steady_clock::time_point last_ = never;
};

}  // namespace penstock::transports
