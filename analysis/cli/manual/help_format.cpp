#include "analysis/cli/manual/help_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/cli/manual/command_text.hpp"

namespace penstock::cli {

std::string HelpFormat::make_description(const CLI::App* command) const {
  const std::string text = command->get_description();
  return text.empty() ? "" : paragraphs(text, screen_) + "\n";
}

std::string HelpFormat::make_usage(const CLI::App* command, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(command, std::move(name));
  if (!command->get_prefix_command() || !usage.ends_with('\n')) return usage;
  usage.pop_back();
  return usage + " program [arguments …]\n";
}

std::string HelpFormat::make_footer(const CLI::App* command) const {
  const std::string text = command->get_footer();
  return text.empty() ? "" : paragraphs(text, screen_);
}

std::string HelpFormat::make_option(const CLI::Option* option, bool /*is_positional*/) const {
  const OptionText text = text_of(*option);
  const std::string argument = argument_with_default(text);
  return entry(fmt::format("{}{}{}", fmt::join(text.names, ", "), argument.empty() ? "" : " ", argument),
               text.description, screen_);
}

/// Groups of options are subcommands without names to CLI11.
std::string HelpFormat::make_subcommands(const CLI::App* command, CLI::AppFormatMode /*mode*/) const {
  std::string groups;
  std::string commands;
  for (const CLI::App* const each : command->get_subcommands([](const CLI::App*) { return true; })) {
    if (!each->get_name().empty()) {
      if (!each->get_group().empty()) commands += make_subcommand(each);
      continue;
    }
    groups += "\n" + each->get_description() + ":\n";
    for (const CLI::Option* const option : each->get_options()) {
      if (option != each->get_help_ptr()) groups += make_option(option, false);
    }
  }
  return groups + (commands.empty() ? "" : "\n" + get_label("Subcommands") + ":\n" + commands);
}

std::string HelpFormat::make_subcommand(const CLI::App* command) const {
  return entry(command->get_name(), command->get_description(), screen_);
}

}  // namespace penstock::cli
