// Numbers in texts that come from outside: the environment, a recording, files of the kernel.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace penstock::analysis {

/// Returns the number that a text is, as a whole and nothing else; none: it is none, or too large for the
/// type.
template <typename Number>
[[nodiscard]] std::optional<Number> number_in(std::string_view text) noexcept {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace penstock::analysis
