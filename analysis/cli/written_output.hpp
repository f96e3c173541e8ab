// Whether what a command has printed is where it was sent. Must not know what was printed.
#pragma once

#include <fmt/format.h>
#include <stdio_ext.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace penstock::cli {

/// Writes what the standard output still holds. Returns the exit code, or 1 after a line on stderr if
/// anything of the output is lost: on a full disk, who reads a report from a file would take a piece for the
/// whole.
[[nodiscard]] inline int code_once_written(int exit_code) {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !had_failed) {
    return exit_code;
  }
  fmt::print(stderr, "penstock: the output could not be written{}{}\n", errno == 0 ? "" : ": ",
             errno == 0 ? "" : std::strerror(errno));
  ::__fpurge(stdout);  // it would be tried, and told, once more
  std::clearerr(stdout);
  return 1;
}

}  // namespace penstock::cli
