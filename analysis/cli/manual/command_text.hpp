// The command line in words: what --help, the man pages and the completions say of it, taken from CLI11's
// objects, so that there is no other list of options. Must not know how it is shown.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace penstock::cli {

/// An option, a flag, or an argument without a name of its own (a positional).
struct OptionText {
  std::vector<std::string> names;   ///< "-o", "--output"; of a positional its one name
  std::string argument;             ///< "FILE", "mpich|openmpi"; empty: it is a flag
  std::string otherwise;            ///< the default; empty: none
  std::string description;          ///< with the options that it excludes or needs
  std::vector<std::string> values;  ///< all that are allowed; empty: anything
  bool is_required = false;
  bool is_list = false;  ///< takes several arguments, or may be given several times
};

/// "DIR=penstock-out", with "…" behind it if there may be several.
[[nodiscard]] std::string argument_with_default(const OptionText& option);

/// Options that belong together.
struct OptionGroup {
  std::string title;  ///< "One of"; empty: no particular ones
  std::vector<OptionText> options;
};

struct CommandText {
  std::string name;  ///< "report"; of the whole command "penstock"
  std::string description;
  std::string footer;
  std::vector<OptionText> positionals;
  std::vector<OptionGroup> groups;
  std::vector<CommandText> commands;  ///< in the order of --help
  bool takes_program = false;         ///< a program and its arguments follow
};

/// Leaves out what --help leaves out.
[[nodiscard]] CommandText text_of(const CLI::App& command);
[[nodiscard]] OptionText text_of(const CLI::Option& option);

/// Returns the subcommand of that name, or null.
[[nodiscard]] const CommandText* find(const CommandText& command, const std::string& name);

}  // namespace penstock::cli
