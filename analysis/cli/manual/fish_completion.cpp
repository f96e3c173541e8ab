#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>

#include "analysis/cli/manual/completion.hpp"

namespace penstock::cli {
namespace {

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char each : text) {
    if (each == '\'' || each == '\\') out += '\\';
    if (each != '`') out += each == '\n' ? ' ' : each;
  }
  return out + "'";
}

std::string fish_argument(const OptionText& option) {
  if (option.argument.empty()) return "";
  if (!option.values.empty())
    return " -x -a " + fish_quoted(fmt::format("{}", fmt::join(option.values, " ")));
  switch (kind_of(option)) {
    case ArgumentKind::file:
      return " -r -F";
    case ArgumentKind::folder:
      return " -x -a '(__fish_complete_directories)'";
    case ArgumentKind::other:
      break;
  }
  return " -x";
}

std::string option_line(const OptionText& option, const std::string& condition) {
  std::string names;
  for (const std::string& each : option.names) {
    names += each.starts_with("--") ? " -l " + each.substr(2) : " -s " + each.substr(1);
  }
  return fmt::format("complete -c penstock -n '{}'{}{} -d {}\n", condition, names, fish_argument(option),
                     fish_quoted(option.description));
}

std::string fish_lines(const CommandText& command) {
  const std::string condition = "__fish_seen_subcommand_from " + command.name;
  std::string out;
  for (const OptionGroup& group : command.groups) {
    for (const OptionText& each : group.options) out += option_line(each, condition);
  }
  for (const OptionText& each : command.positionals) {
    if (!each.values.empty()) {
      out += fmt::format("complete -c penstock -n '{}' -f -a '{}'\n", condition, fmt::join(each.values, " "));
    } else if (kind_of(each) == ArgumentKind::file) {
      out += fmt::format("complete -c penstock -n '{}' -F\n", condition);
    }
  }
  if (command.takes_program)
    out += fmt::format("complete -c penstock -n '{}' -f -a '(__fish_complete_subcommand --fcs-skip=2)'\n",
                       condition);
  return out;
}

}  // namespace

std::string fish_completion(const CommandText& whole) {
  std::string script =
      "# Completion of `penstock` for fish: made by `penstock completion fish`.\ncomplete -c penstock -f\n";
  for (const OptionGroup& group : whole.groups) {
    for (const OptionText& each : group.options) script += option_line(each, "__fish_use_subcommand");
  }
  for (const CommandText& each : whole.commands) {
    script += fmt::format("complete -c penstock -n __fish_use_subcommand -a {} -d {}\n", each.name,
                          fish_quoted(each.description));
  }
  for (const CommandText& each : whole.commands) script += fish_lines(each);
  return script;
}

}  // namespace penstock::cli
