// What an example's command line makes of arguments.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace penstock::test {

template <typename Options>
struct CommandLineOutcome {
  std::optional<Options> options;
  int exit_code = -1;
  std::string errors;
};

/// Calls an example's `read_options`, and keeps what it prints to stderr.
template <typename Options>
CommandLineOutcome<Options> outcome_of(std::optional<Options> read_options(int, char**, int, int, int&),
                                       std::vector<std::string> arguments, int rank = 0, int rank_count = 1) {
  arguments.insert(arguments.begin(), "example");
  std::vector<char*> argv;
  for (std::string& argument : arguments) {
    argv.push_back(argument.data());
  }
  CommandLineOutcome<Options> outcome;
  testing::internal::CaptureStderr();
  outcome.options =
      read_options(static_cast<int>(argv.size()), argv.data(), rank, rank_count, outcome.exit_code);
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

/// Refused means: no options, exit code 2, and one line that contains `words`.
template <typename Options>
void expect_refused(const CommandLineOutcome<Options>& outcome, const std::string& words) {
  EXPECT_FALSE(outcome.options);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
  EXPECT_EQ(outcome.errors.find('\n'), outcome.errors.size() - 1) << "not one line: " << outcome.errors;
}

}  // namespace penstock::test
