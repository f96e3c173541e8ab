// How --help looks: CLI11's own, but within the width of the terminal and without its words for programmers.
// Must not know what options there are.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

#include "analysis/cli/manual/layout.hpp"

namespace penstock::cli {

class HelpFormat : public CLI::Formatter {
 public:
  explicit HelpFormat(const Screen& screen) : screen_(screen) {}
  [[nodiscard]] std::string make_description(const CLI::App* command) const override;
  [[nodiscard]] std::string make_usage(const CLI::App* command, std::string name) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* command) const override;
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool is_positional) const override;
  [[nodiscard]] std::string make_subcommands(const CLI::App* command, CLI::AppFormatMode mode) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;

 private:
  Screen screen_;
};

}  // namespace penstock::cli
