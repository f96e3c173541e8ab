// penstock man, and penstock completion: the manual and the shells' completions, made of the command line as
// --help is. The build writes all of them by `penstock man --write`.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/manual/command_text.hpp"
#include "analysis/cli/manual/completion.hpp"
#include "analysis/cli/manual/man_page.hpp"
#include "analysis/cli/manual/topic.hpp"

namespace penstock::cli {
namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error(path.string() + ": cannot be written");
}

/// Writes into the folders that share/ has.
void write_manual(const CommandText& whole, const std::filesystem::path& share) {
  write_file(share / "man/man1" / (whole.name + ".1"), man_page(whole, whole));
  for (const CommandText& each : whole.commands) {
    write_file(share / "man/man1" / fmt::format("{}-{}.1", whole.name, each.name), man_page(whole, each));
  }
  for (const TopicRow& each : topics()) {
    write_file(share / "man/man7" / fmt::format("{}-{}.7", whole.name, each.name),
               man_page(each.make(), whole));
  }
  for (const Shell& each : shells()) write_file(share / std::filesystem::path(each.file), each.script(whole));
}

std::string page_of(const CommandText& whole, const std::string& name) {
  if (name.empty()) return man_page(whole, whole);
  for (const TopicRow& each : topics()) {
    if (each.name == name) return man_page(each.make(), whole);
  }
  const CommandText* const command = find(whole, name);
  if (command == nullptr) throw CLI::ValidationError("page", fmt::format("there is none on \"{}\"", name));
  return man_page(whole, *command);
}

}  // namespace

void add_man_command(CLI::App& application, int& exit_code) {
  auto page = std::make_shared<std::string>();
  auto share = std::make_shared<std::filesystem::path>();
  CLI::App* const command =
      application.add_subcommand("man", "Print a page of the manual, for `man -l -`")->group("");
  CLI::Option* const one =
      command->add_option("page", *page, "A command or a topic; without it, the whole command's");
  command->add_option("--write", *share, "Write all pages and completions into a folder, as in share/")
      ->type_name("DIR")
      ->excludes(one);
  command->callback([=, &application, &exit_code] {
    const CommandText whole = text_of(application);
    if (share->empty()) {
      fmt::print("{}", page_of(whole, *page));
    } else {
      write_manual(whole, *share);
    }
    exit_code = 0;
  });
}

void add_completion_command(CLI::App& application, int& exit_code) {
  auto name = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Shell& each : shells()) names.emplace_back(each.name);
  CLI::App* const command = application.add_subcommand(
      "completion",
      "Print what completes this command's words in a shell: source <(penstock completion bash)");
  command->add_option("shell", *name, "The shell")->required()->check(CLI::IsMember(names));
  command->callback([name, &application, &exit_code] {
    for (const Shell& each : shells()) {
      if (each.name == *name) fmt::print("{}", each.script(text_of(application)));
    }
    exit_code = 0;
  });
}

}  // namespace penstock::cli
