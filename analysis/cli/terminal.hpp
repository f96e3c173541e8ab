// Detects what reads the command's output. Must not know what is printed.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "analysis/cli/manual/layout.hpp"
#include "analysis/report/text_table.hpp"

namespace penstock::cli {

/// Returns true if the output is a terminal and colours are not switched off (https://no-color.org).
[[nodiscard]] inline bool wants_colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

/// Returns the terminal's width, at most that of reports; in a pipe to a pager, errors still go to the
/// terminal. COLUMNS overrules it.
[[nodiscard]] inline Screen screen() {
  constexpr std::size_t narrowest = 40;
  std::size_t columns = 0;
  if (const char* const wish = std::getenv("COLUMNS"); wish != nullptr) {
    columns = std::strtoul(wish, nullptr, 10);
  }
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    if (columns == 0 && ::ioctl(stream, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  }
  return {columns == 0 ? analysis::screen_columns : std::clamp(columns, narrowest, analysis::screen_columns),
          wants_colours()};
}

}  // namespace penstock::cli
