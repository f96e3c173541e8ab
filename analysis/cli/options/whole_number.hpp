// The check of options that take whole numbers. CLI11's own answers "not in range 0.000000 to" and 309
// digits.
#pragma once

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace penstock::cli {

/// Returns what is wrong with the text as a number from `least` to `most`; empty: nothing. Most bounds are
/// those of a type, which no user needs to know, and are not told.
[[nodiscard]] inline std::string why_no_whole_number(const std::string& text, std::int64_t least,
                                                     std::int64_t most) {
  constexpr std::int64_t largest_told = 1'000'000;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = end == text.data() + text.size() && error != std::errc::invalid_argument;
  if (is_whole && error == std::errc{} && least <= value && value <= most) return "";
  if (most <= largest_told)
    return fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
  const bool is_too_large = is_whole && !text.starts_with('-') && (error != std::errc{} || value > most);
  return is_too_large ? fmt::format("\"{}\" is too large", text)
                      : fmt::format("\"{}\" is not a whole number of at least {}", text, least);
}

/// Returns the check of an option. `most`: at most what the option's variable holds.
[[nodiscard]] inline CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& text) { return why_no_whole_number(text, least, most); }, ""};
}

inline constexpr std::int64_t most_rows = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t most_ranks_named = std::numeric_limits<std::int32_t>::max();

}  // namespace penstock::cli
