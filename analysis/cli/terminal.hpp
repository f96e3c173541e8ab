// Detects what reads the command's output. Must not know what is printed.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "analysis/cli/manual/layout.hpp"
#include "analysis/layout/text_table.hpp"

namespace penstock::cli {

/// Returns true if the output is a terminal and colours are not switched off (https://no-color.org).
[[nodiscard]] inline bool wants_colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

inline constexpr std::size_t narrowest_screen = 40;

/// Returns the number of columns that COLUMNS asks for; 0: none.
[[nodiscard]] inline std::size_t wished_columns() {
  const char* const wish = std::getenv("COLUMNS");
  return wish == nullptr ? 0 : std::strtoul(wish, nullptr, 10);
}

/// Returns the width of reports: the terminal's, if one shows them. COLUMNS overrules it.
[[nodiscard]] inline std::size_t report_columns() {
  std::size_t columns = wished_columns();
  winsize size{};
  if (columns == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns == 0 ? analysis::screen_columns : std::max(columns, narrowest_screen);
}

/// Returns the terminal's width, at most 100 columns, as lines of text are hard to read if they are longer;
/// in a pipe to a pager, errors still go to the terminal. COLUMNS overrules it.
[[nodiscard]] inline Screen screen() {
  std::size_t columns = wished_columns();
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (columns == 0 && ::ioctl(stream, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  }
  return {columns == 0 ? analysis::screen_columns
                       : std::clamp(columns, narrowest_screen, analysis::screen_columns),
          wants_colours()};
}

}  // namespace penstock::cli
