// The option that asks what would be if kernels took another time. Must not know how it is answered.
#pragma once

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/pipeline/analyse.hpp"

namespace penstock::cli {

/// Takes the whole text for a number.
template <typename Number>
[[nodiscard]] bool read_number(std::string_view text, Number& number) {
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && last == text.data() + text.size();
}

/// Returns what "PATTERN=FACTOR" or "PATTERN@STREAM=FACTOR" asks; nothing: it is of neither form. Names of
/// kernels may contain '='.
[[nodiscard]] inline std::optional<analysis::KernelFactor> kernel_factor_of(const std::string& text) {
  const std::size_t sign = text.rfind('=');
  if (sign == std::string::npos) return std::nullopt;
  analysis::KernelFactor asked{text.substr(0, sign), 0};
  if (const std::size_t at = asked.pattern.rfind('@'); at != std::string::npos) {
    std::uint32_t stream = 0;
    if (!read_number(std::string_view(asked.pattern).substr(at + 1), stream)) return std::nullopt;
    asked.stream = stream;
    asked.pattern.resize(at);
  }
  const bool is_factor = read_number(std::string_view(text).substr(sign + 1), asked.factor);
  if (!is_factor || asked.pattern.empty() || !(asked.factor >= 0 && asked.factor <= 1000))
    return std::nullopt;
  return asked;
}

/// `what_if` must outlive the parsing.
inline void add_what_if_option(CLI::App& command, std::vector<analysis::KernelFactor>& what_if) {
  command
      .add_option_function<std::vector<std::string>>(
          "--what-if",
          [&what_if](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              std::optional<analysis::KernelFactor> asked = kernel_factor_of(text);
              if (!asked) {
                throw CLI::ValidationError(
                    "--what-if",
                    fmt::format("\"{}\" is not PATTERN=FACTOR with a factor from 0 to 1000", text));
              }
              what_if.push_back(std::move(*asked));
            }
          },
          "How long would it take if kernels took FACTOR of their time? PATTERN is a kernel's name, with its "
          "namespaces and template arguments or without, '*' stands for anything, '@7' behind it for stream "
          "7 alone: 'hop*=0.5'; 0 leaves them out. May be given "
          "several times")
      ->type_name("PATTERN=FACTOR")
      ->allow_extra_args(false);  // otherwise it would take the recording for a second one
}

}  // namespace penstock::cli
