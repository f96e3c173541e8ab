#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "analysis/cli/manual/completion.hpp"

namespace penstock::cli {
namespace {

/// Needs nothing of the package bash-completion, but completes a program's own arguments by it where it is
/// there.
constexpr const char* frame_begin =
    R"(# Completion of `penstock` for bash: made by `penstock completion bash`.

# The files, folders (-d) or commands (-c) that begin like the word at the cursor
_penstock_files() {
  compopt -o filenames 2>/dev/null || true
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}

_penstock_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

# COMMAND OPTION: what may follow the command, and what the option's argument is
_penstock_of() {
  local option=$2
  commands='' options='' positional=none argument=none takes_program=no
  case $1 in
)";
constexpr const char* frame_end = R"(  esac
}

_penstock() {
  local current=${COMP_WORDS[COMP_CWORD]} word command='' expected=none
  local commands options positional argument takes_program
  local -i i program_at=0
  COMPREPLY=()
  _penstock_of '' ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [ "$word" = = ]; then # bash cuts --html=FILE into three words
      continue
    elif [ "$expected" != none ]; then
      expected=none
    elif [ "$word" = -- ] && [ $takes_program = yes ]; then
      program_at=$((i + 1))
      break
    elif [[ $word = -* ]]; then
      _penstock_of "$command" "$word"
      expected=$argument
    elif [ -z "$command" ]; then
      command=$word
      _penstock_of "$command" ''
    elif [ $takes_program = yes ]; then
      program_at=$i
      break
    fi
  done
  [ "$current" != = ] || current=''

  if ((program_at > 0)); then
    if declare -F _command_offset >/dev/null; then
      _command_offset $program_at
    elif ((program_at == COMP_CWORD)); then
      _penstock_files -c
    else
      _penstock_files -f
    fi
    return
  fi
  if [ "$expected" = none ]; then
    if [[ $current = -* ]]; then
      expected=$options
    elif [ $takes_program = yes ]; then
      expected=program
    elif [ -n "$commands" ]; then
      expected=$commands
    else
      expected=$positional
    fi
  fi
  case $expected in
    none | other) ;;
    file) _penstock_files -f ;;
    folder) _penstock_files -d ;;
    program) _penstock_files -c ;;
    *) _penstock_words "$expected" ;;
  esac
}

complete -F _penstock penstock
)";

std::string words(const std::vector<std::string>& all) {
  return fmt::format("{}", fmt::join(all, " "));
}

std::string bash_argument(const OptionText& option) {
  if (!option.values.empty()) return words(option.values);
  switch (kind_of(option)) {
    case ArgumentKind::file:
      return "file";
    case ArgumentKind::folder:
      return "folder";
    case ArgumentKind::other:
      break;
  }
  return "other";
}

std::string bash_branch(const std::string& pattern, const CommandText& command) {
  std::vector<std::string> commands;
  for (const CommandText& each : command.commands) commands.push_back(each.name);
  std::vector<std::string> options;
  std::string arguments;
  for (const OptionGroup& group : command.groups) {
    for (const OptionText& each : group.options) {
      options.insert(options.end(), each.names.begin(), each.names.end());
      if (each.argument.empty()) continue;
      arguments +=
          fmt::format("        {}) argument='{}' ;;\n", fmt::join(each.names, " | "), bash_argument(each));
    }
  }
  std::string text = fmt::format("    {})\n      commands='{}'\n      options='{}'\n", pattern,
                                 words(commands), words(options));
  if (!command.positionals.empty())
    text += fmt::format("      positional='{}'\n", bash_argument(command.positionals.front()));
  if (command.takes_program) text += "      takes_program=yes\n";
  if (!arguments.empty()) text += "      case $option in\n" + arguments + "      esac\n";
  return text + "      ;;\n";
}

}  // namespace

std::string bash_completion(const CommandText& whole) {
  std::string script = frame_begin + bash_branch("''", whole);
  for (const CommandText& each : whole.commands) script += bash_branch(each.name, each);
  return script + frame_end;
}

}  // namespace penstock::cli
