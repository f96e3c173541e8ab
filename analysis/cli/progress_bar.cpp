#include "analysis/cli/progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "analysis/report/text_figures.hpp"

namespace penstock::cli {
namespace {

std::size_t columns_of_terminal() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

ProgressBar::ProgressBar() : on_terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(std::size_t done, std::size_t all, const std::string& what) {
  if (!on_terminal_) return;  // in a log of continuous integration such lines look like complaints
  const double share = all == 0 ? 1 : static_cast<double>(done) / static_cast<double>(all);
  constexpr std::size_t bar_columns = 24;
  constexpr std::size_t other_columns = 9;  // share and blanks
  const std::string bar = analysis::bar_text(share, bar_columns);
  const auto filled = static_cast<std::size_t>(
      std::count_if(bar.begin(), bar.end(), [](char c) { return (c & 0xc0) != 0x80; }));  // characters, not
                                                                                          // bytes
  const std::size_t room = columns_of_terminal();
  const std::size_t text_columns =
      room > bar_columns + other_columns ? room - bar_columns - other_columns : 0;
  fmt::print(stderr, "\r\033[K{}{:>{}} {:>3.0f} % {}", bar, "", bar_columns - std::min(filled, bar_columns),
             100 * share, what.substr(0, text_columns));
  std::fflush(stderr);
  is_drawn_ = true;
}

void ProgressBar::say(const std::string& line) {
  clear();
  fmt::print(stderr, "penstock: {}\n", line);
}

void ProgressBar::clear() {
  if (is_drawn_) fmt::print(stderr, "\r\033[K");
  is_drawn_ = false;
}

}  // namespace penstock::cli
