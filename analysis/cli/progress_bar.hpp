// Shows how far a command has come: by a bar that is drawn again and again on a terminal, elsewhere by a line
// whenever something else begins. Writes to stderr. Knows nothing of the work.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace penstock::cli {

/// Thread: one.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// `what` comes next.
  void show(std::size_t done, std::size_t all, const std::string& what);
  /// A line that stays, above the bar.
  void say(const std::string& line);

 private:
  void clear();

  bool on_terminal_;
  bool is_drawn_ = false;
  std::string shown_;  ///< where it is no terminal
};

/// A bar, once it is worth one: after a second.
class PatientBar {
 public:
  void show(std::size_t done, std::size_t all, const std::string& what) {
    constexpr auto patience = std::chrono::seconds(1);
    if (std::chrono::steady_clock::now() - began_ >= patience) {
      bar_.show(done, all, what);
    }
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  ProgressBar bar_;
};

}  // namespace penstock::cli
