#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "analysis/cli/manual/completion.hpp"

namespace penstock::cli {
namespace {

/// Returns what stands in single quotes, with a backslash before what _arguments and _describe take for their
/// own.
std::string zsh_quoted(std::string_view text, std::string_view special) {
  std::string out;
  for (const char each : text) {
    if (each == '\'') {
      out += "'\\''";
    } else if (each == '\n') {
      out += ' ';
    } else if (each != '`') {
      if (special.find(each) != std::string_view::npos) out += '\\';
      out += each;
    }
  }
  return out;
}

std::string action_of(const OptionText& option) {
  const std::string name =
      zsh_quoted(option.argument.empty() ? option.names.front() : option.argument, ":[]\\");
  if (!option.values.empty())
    return fmt::format(":{}:({})", zsh_quoted(option.names.back(), ":[]\\"), fmt::join(option.values, " "));
  switch (kind_of(option)) {
    case ArgumentKind::file:
      return fmt::format(":{}:_files", name);
    case ArgumentKind::folder:
      return fmt::format(":{}:_files -/", name);
    case ArgumentKind::other:
      break;
  }
  return fmt::format(":{}: ", name);
}

/// An option that is not a list is offered once.
std::string specs_of(const OptionText& option) {
  std::string out;
  const std::string others = option.is_list            ? "*"
                             : option.names.size() > 1 ? fmt::format("({})", fmt::join(option.names, " "))
                                                       : "";
  for (const std::string& name : option.names) {
    const bool takes = !option.argument.empty();
    out += fmt::format("        '{}{}{}[{}]{}' \\\n", others, name,
                       takes && name.starts_with("--") ? "="
                       : takes                         ? "+"
                                                       : "",
                       zsh_quoted(option.description, "[]:\\"), takes ? action_of(option) : "");
  }
  return out;
}

std::string zsh_branch(const CommandText& command) {
  std::string out = fmt::format("    {})\n      _arguments -s \\\n", command.name);
  for (const OptionGroup& group : command.groups) {
    for (const OptionText& each : group.options) out += specs_of(each);
  }
  for (const OptionText& each : command.positionals)
    out += fmt::format("        '{}{}' \\\n",
                       each.is_list || each.argument.find(' ') != std::string::npos ? "*" : ":",
                       action_of(each));
  if (command.takes_program)
    out += "        '(-)1:program: _command_names -e' \\\n        '*::arguments:_normal' \\\n";
  return out + "        && return 0\n      ;;\n";
}

}  // namespace

/// No variable of the function may be called `commands`, as zsh has its programs there.
std::string zsh_completion(const CommandText& whole) {
  std::string script =
      "#compdef penstock\n"
      "# Completion of `penstock` for zsh: made by `penstock completion zsh`.\n\n"
      "_penstock() {\n"
      "  local context state state_descr line\n"
      "  typeset -A opt_args\n"
      "  local -a subcommands\n"
      "  subcommands=(\n";
  for (const CommandText& each : whole.commands) {
    script += fmt::format("    '{}:{}'\n", each.name, zsh_quoted(each.description, ":\\"));
  }
  script += "  )\n  _arguments -C \\\n";
  for (const OptionGroup& group : whole.groups) {
    for (const OptionText& each : group.options) {
      script += specs_of(each);
    }
  }
  script +=
      "        '1: :->command' \\\n"
      "        '*:: :->arguments' && return 0\n"
      "  if [[ $state = command ]]; then\n"
      "    _describe -t commands command subcommands\n"
      "    return\n"
      "  fi\n"
      "  case $words[1] in\n";
  for (const CommandText& each : whole.commands) script += zsh_branch(each);
  // as a file of zsh's own folders it is the function; by `source` it defines it
  return script +
         "  esac\n"
         "}\n\n"
         "if [ \"$funcstack[1]\" = _penstock ]; then\n"
         "  _penstock \"$@\"\n"
         "else\n"
         "  compdef _penstock penstock\n"
         "fi\n";
}

}  // namespace penstock::cli
