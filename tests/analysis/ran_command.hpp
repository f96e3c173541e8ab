// A run of the `penstock` command by a shell: its exit code, and what it wrote to which stream.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace penstock::analysis::testing {

struct Outcome {
  int exit_code;
  std::string output;
  std::string errors;
};

inline std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Runs `command` by a shell. `folder`: where files for its output are made.
[[nodiscard]] inline Outcome ran(const std::string& command, const std::filesystem::path& folder) {
  const std::string out = (folder / "out").string();
  const std::string err = (folder / "err").string();
  const int status = std::system((command + " >" + out + " 2>" + err).c_str());
  return {WEXITSTATUS(status), content_of(out), content_of(err)};
}

}  // namespace penstock::analysis::testing
