// Detects what reads the command's output. Must not know what is printed.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace penstock::cli {

/// Returns true if the output is a terminal and colours are not switched off (https://no-color.org).
[[nodiscard]] inline bool wants_colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace penstock::cli
