// Shows a command's progress on a terminal, as a bar that is redrawn; elsewhere nothing but lines that are to
// stay. Writes to stderr. Must not know the work.
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

  /// `what`: the current activity.
  void show(std::size_t done, std::size_t all, const std::string& what);
  /// Prints a permanent line above the bar.
  void say(const std::string& line);

 private:
  void clear();

  bool on_terminal_;
  bool is_drawn_ = false;
};

/// A bar that appears after a second.
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
