// penstock help: a topic, a subcommand, or what there is.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/manual/command_text.hpp"
#include "analysis/cli/manual/topic.hpp"
#include "analysis/cli/manual/topic_text.hpp"
#include "analysis/cli/terminal.hpp"

namespace penstock::cli {
namespace {

/// Returns topics, then subcommands: the values that completions offer.
std::vector<std::string> names_in(const CLI::App& application) {
  std::vector<std::string> names;
  for (const TopicRow& each : topics()) names.emplace_back(each.name);
  for (const CommandText& each : text_of(application).commands) names.push_back(each.name);
  return names;
}

int help(const CLI::App& application, const std::string& name) {
  if (name.empty()) {
    // not application.help(), which is of the subcommand that was called
    fmt::print("{}", application.get_formatter()->make_help(&application, application.get_name(),
                                                            CLI::AppFormatMode::Normal));
    return 0;
  }
  for (const TopicRow& each : topics()) {
    if (each.name == name) {
      fmt::print("{}", text_of(each.make(), screen()));
      return 0;
    }
  }
  const std::string prefix = application.get_name();
  fmt::print("{}", application.get_subcommand(name)->help(prefix));
  return 0;
}

}  // namespace

void add_help_command(CLI::App& application, int& exit_code) {
  auto name = std::make_shared<std::string>();
  CLI::App* const command =
      application.add_subcommand("help", fmt::format("Explain {}, or a command", topic_names()));
  command->add_option("topic", *name, "What to explain; without it, this command as a whole")
      ->type_name("TOPIC")
      ->check(CLI::IsMember(names_in(application)));
  command->callback([name, &application, &exit_code] { exit_code = help(application, *name); });
}

}  // namespace penstock::cli
