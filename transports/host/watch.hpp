// Determines when a polling loop checks for something rare, such as the other side's death.
#pragma once

#include <chrono>

namespace penstock::transports {

/// Thread: one at a time. Cost: reads the clock (20 ns) in every call, and only then.
class Watch {
 public:
  explicit Watch(std::chrono::nanoseconds interval = std::chrono::milliseconds(100)) noexcept
      : interval_(interval) {}

  /// True at most once every interval. The first time is one interval after the first call, or after the last
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
