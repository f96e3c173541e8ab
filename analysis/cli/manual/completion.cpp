#include "analysis/cli/manual/completion.hpp"

#include <array>

namespace penstock::cli {
namespace {

// zsh's own place is site-functions; Debian's packages have theirs in vendor-completions
// (cmake/PenstockPackage.cmake)
constexpr std::array shell_table = {
    Shell{"bash", bash_completion, "bash-completion/completions/penstock"},
    Shell{"zsh", zsh_completion, "zsh/site-functions/_penstock"},
    Shell{"fish", fish_completion, "fish/vendor_completions.d/penstock.fish"}};

}  // namespace

std::span<const Shell> shells() noexcept {
  return shell_table;
}

ArgumentKind kind_of(const OptionText& option) {
  if (option.argument == "DIR") return ArgumentKind::folder;
  for (const std::string_view each : {"FILE", "RECORDING", "BEFORE AFTER"}) {
    if (option.argument == each) return ArgumentKind::file;  // a recording is a folder, or one rank's file
  }
  return ArgumentKind::other;
}

}  // namespace penstock::cli
