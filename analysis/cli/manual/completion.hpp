// Scripts that complete the command's words in a shell, made of the same objects as --help.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/cli/manual/command_text.hpp"

namespace penstock::cli {

struct Shell {
  std::string_view name;
  std::string (*script)(const CommandText& whole);
  std::string_view file;  ///< in share/, where the shell looks for it
};

[[nodiscard]] std::span<const Shell> shells() noexcept;

/// Tells what may stand where an argument is expected, as far as its name does.
enum class ArgumentKind { other, file, folder };
[[nodiscard]] ArgumentKind kind_of(const OptionText& option);

[[nodiscard]] std::string bash_completion(const CommandText& whole);
[[nodiscard]] std::string zsh_completion(const CommandText& whole);
[[nodiscard]] std::string fish_completion(const CommandText& whole);

}  // namespace penstock::cli
