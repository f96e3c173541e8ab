// Forecasts whether a rank completes its puts and gets right after it has made them. Then small ones can wait
// for each other and begin together. If the rank computes in between, they should move meanwhile. The
// forecast is what the rank did the last time, as simulations repeat themselves in each step. Knows no
// window.
#pragma once

#include <cstdint>
#include <utility>

namespace penstock::interpose {

/// A wrong forecast must only cost time. Unit: ns, of any one clock. Thread: one at a time.
class AccessForecast {
 public:
  /// A loop over calls takes less from one to the next; to launch a kernel in between takes more.
  static constexpr std::uint64_t longest_pause_ns = 2'000;

  /// Records an access, at the beginning of its call.
  void note_access(std::uint64_t now_ns) noexcept {
    if (last_ns_ != 0 && now_ns - last_ns_ > longest_pause_ns) had_pause_ = true;
    last_ns_ = now_ns;
  }
  /// Records that the last access, or several, have been begun: the time until now was no pause.
  void note_begun(std::uint64_t now_ns) noexcept {
    if (last_ns_ != 0) last_ns_ = now_ns;
  }
  /// Records that all accesses are to be completed.
  void note_completion(std::uint64_t now_ns) noexcept {
    if (last_ns_ == 0) return;
    note_access(now_ns);
    completed_at_once_ = !std::exchange(had_pause_, false);
    last_ns_ = 0;
  }
  /// Returns true if the accesses since the last completion will probably be completed without a pause.
  [[nodiscard]] bool completes_at_once() const noexcept { return completed_at_once_ && !had_pause_; }

 private:
  std::uint64_t last_ns_ = 0;  ///< 0: no access since the last completion
  bool had_pause_ = false;     ///< since the last completion
  bool completed_at_once_ = false;
};

}  // namespace penstock::interpose
