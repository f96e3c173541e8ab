// What the examples' command lines have in common. Rank 0 alone prints; bad arguments end the program with
// one line that says what is allowed, and exit code 2.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>

#include "examples/support/exchange.hpp"

namespace example {

/// The name of an enumeration's value.
template <typename Value>
[[nodiscard]] std::string name_of_choice(const std::map<std::string, Value>& names, Value value) {
  return std::find_if(names.begin(), names.end(), [&](const auto& name) { return name.second == value; })
      ->first;
}

/// --option NAME, one of the names of an enumeration's values.
template <typename Value>
void add_choice(CLI::App& app, const std::string& option, Value& value,
                const std::map<std::string, Value>& names, const std::string& description) {
  app.add_option_function<std::string>(
         option, [&value, names](const std::string& name) { value = names.at(name); }, description)
      ->check(CLI::IsMember(names))
      ->default_str(name_of_choice(names, value));
}

inline void add_exchange(CLI::App& app, Exchange& exchange) {
  add_choice(app, "--exchange", exchange,
             {{name_of(Exchange::device), Exchange::device},
              {name_of(Exchange::staged_by_hand), Exchange::staged_by_hand}},
             "device pointers straight to MPI, or copies in host memory");
}

/// The exit code with which the program should end at once, if it should. `complaint` says what is wrong with
/// arguments that CLI11 takes, or nothing.
template <typename Complaint>
[[nodiscard]] std::optional<int> ends_at_once(CLI::App& app, int argc, char** argv, int rank,
                                              Complaint&& complaint) {
  std::string problem;
  try {
    app.parse(argc, argv);
    problem = complaint();
  } catch (const CLI::CallForHelp&) {
    if (rank == 0) {
      std::fputs(app.help().c_str(), stdout);
    }
    return 0;
  } catch (const CLI::ParseError& error) {
    problem = error.what();
  }
  if (problem.empty()) {
    return std::nullopt;
  }
  if (rank == 0) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), problem.c_str());
  }
  return 2;
}

}  // namespace example
