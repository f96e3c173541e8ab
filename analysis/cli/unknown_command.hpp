// Says that there is no command of a name, and which was meant. CLI11 says only that a subcommand is
// required.
#pragma once

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "interpose/node/edit_distance.hpp"

namespace penstock::cli {

/// Returns what is wrong with the command's first word; empty: it is a subcommand, an option, or not there.
/// `words`: without the command itself.
[[nodiscard]] inline std::string why_no_command(const CLI::App& application,
                                                const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) {
    return "";
  }
  const std::string& wrong = words.front();
  std::vector<std::string> names;
  for (const CLI::App* const each : application.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->check_name(wrong)) {
      return "";
    }
    if (!each->get_group().empty()) {
      names.push_back(each->get_name());
    }
  }
  const auto distance = [&](const std::string& name) { return interpose::edit_distance(wrong, name); };
  const std::string nearest = *std::ranges::min_element(names, {}, distance);
  const std::string what = fmt::format("there is no command \"{}\"", wrong);
  const std::size_t alike = std::max<std::size_t>(1, nearest.size() / 2);  // of more letters, half were wrong
  return distance(nearest) <= alike ? fmt::format("{}; did you mean \"{}\"?", what, nearest)
                                    : fmt::format("{}; there are {}", what, fmt::join(names, ", "));
}

}  // namespace penstock::cli
