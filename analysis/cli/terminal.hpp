// Who reads what the command prints. Knows nothing of what that is.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace penstock::cli {

/// Colours are for people: a terminal, and nobody has asked for none (https://no-color.org).
[[nodiscard]] inline bool wants_colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

}  // namespace penstock::cli
