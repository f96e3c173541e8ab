#include "analysis/cli/manual/command_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace penstock::cli {
namespace {

/// CLI11 writes a type as "NAME:CHECK:…", with allowed values as "{a,b}".
std::string_view type_in(std::string_view name) {
  int depth = 0;  // "RANGE[:FIRST]" is one name
  for (std::size_t i = 0; i < name.size(); ++i) {
    depth += name[i] == '[' ? 1 : name[i] == ']' ? -1 : 0;
    if (name[i] == ':' && depth == 0) return name.substr(0, i);
  }
  return name;
}

std::vector<std::string> values_in(std::string_view name) {
  std::vector<std::string> values;
  const std::size_t begin = name.find('{');
  const std::size_t end = name.find('}', begin);
  if (begin == std::string_view::npos || end == std::string_view::npos) return values;
  std::string_view list = name.substr(begin + 1, end - begin - 1);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    values.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return values;
}

/// "UINT" is a word of programmers, and "TEXT" tells less than the values.
std::string argument_of(std::string_view type, const std::vector<std::string>& values) {
  if (type == "TEXT" && !values.empty()) return fmt::format("{}", fmt::join(values, "|"));
  return std::string(type == "UINT" || type == "INT" || type == "FLOAT" ? "N" : type);
}

bool is_shown(const CLI::Option* option) {
  return !option->get_group().empty();
}

/// Adds a command's options, and those of its groups, which CLI11 has as subcommands without names.
void add_options(CommandText& text, const CLI::App& command, const std::string& title) {
  OptionGroup group{title, {}};
  for (const CLI::Option* const each : command.get_options(is_shown)) {
    if (each == command.get_help_ptr() && command.get_name().empty())
      continue;  // the group has the command's
    if (each->get_positional()) {
      text.positionals.push_back(text_of(*each));
    } else {
      group.options.push_back(text_of(*each));
    }
  }
  if (!group.options.empty()) text.groups.push_back(std::move(group));
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* const each : options) names.push_back(each->get_name());
  std::sort(names.begin(), names.end());  // the set has them by address
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

OptionText text_of(const CLI::Option& option) {
  OptionText text;
  text.description = option.get_description();
  if (option.get_positional()) {
    text.names.push_back(option.get_name(true));
  } else {
    for (const std::string& each : option.get_snames()) text.names.push_back("-" + each);
    for (const std::string& each : option.get_lnames()) text.names.push_back("--" + each);
  }
  if (!option.get_needs().empty())
    text.description += fmt::format(" (with {})", names_of(option.get_needs()));
  if (!option.get_excludes().empty())
    text.description += fmt::format(" (not with {})", names_of(option.get_excludes()));
  if (option.get_type_size() == 0) return text;  // a flag
  const std::string type = option.get_type_name();
  text.values = values_in(type);
  text.argument = argument_of(type_in(type), text.values);
  text.otherwise = option.get_default_str();
  text.is_required = option.get_required();
  text.is_list = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return text;
}

std::string argument_with_default(const OptionText& option) {
  return fmt::format("{}{}{}{}", option.argument, option.otherwise.empty() ? "" : "=", option.otherwise,
                     option.is_list ? " …" : "");
}

CommandText text_of(const CLI::App& command) {
  CommandText text;
  text.name = command.get_name();
  text.description = command.get_description();
  text.footer = command.get_footer();
  text.takes_program = command.get_prefix_command();
  add_options(text, command, "");
  for (const CLI::App* const each : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name().empty()) {
      add_options(text, *each, each->get_description());
    } else if (!each->get_group().empty()) {
      text.commands.push_back(text_of(*each));
    }
  }
  return text;
}

const CommandText* find(const CommandText& command, const std::string& name) {
  const auto found = std::find_if(command.commands.begin(), command.commands.end(),
                                  [&](const CommandText& each) { return each.name == name; });
  return found == command.commands.end() ? nullptr : &*found;
}

}  // namespace penstock::cli
