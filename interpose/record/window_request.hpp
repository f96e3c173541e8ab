// What the user wants to be recorded of a run, and how it is written in settings. Knows nothing of its use.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace penstock::record {

/// What the user asked for.
struct WindowRequest {
  enum class By : std::uint8_t { nothing, range, profiler };
  By by = By::nothing;
  std::string range;        ///< an NVTX range's name
  std::uint32_t first = 1;  ///< the window begins with so many-th time that a rank enters the range …
  std::uint32_t last = 1;   ///< … and ends when that which it entered the so many-th time ends; 0: never
};

namespace detail {
/// Takes ":NUMBER" or ":" from the end of a text. Returns false if there is none.
inline bool take_number(std::string_view& text, std::uint32_t& number, bool may_be_empty) noexcept {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view digits = text.substr(colon + 1);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc{} && end == digits.data() + digits.size() && value != 0;
  if (!is_number && !(may_be_empty && digits.empty())) return false;
  number = value;
  text = text.substr(0, colon);
  return true;
}

}  // namespace detail

/// Parses "profiler", or "NAME", "NAME:3", "NAME:3:5" or "NAME:3:" of a range: of its first time, of the
/// third, of the third to the fifth, from the third on. Returns false if it is none of these.
[[nodiscard]] inline bool parse_window(std::string_view text, WindowRequest& request) {
  WindowRequest parsed;
  if (text == "profiler") {
    parsed.by = WindowRequest::By::profiler;
    request = parsed;
    return true;
  }
  parsed.by = WindowRequest::By::range;
  std::string_view name = text;
  std::uint32_t last = 0;
  if (detail::take_number(name, last, true)) {
    std::string_view shorter = name;
    if (std::uint32_t first = 0; detail::take_number(shorter, first, false)) {
      name = shorter;
      parsed.first = first;
      parsed.last = last;
    } else if (last != 0) {
      parsed.first = parsed.last = last;
    } else {
      name = text;  // a name that ends with a colon
    }
  }
  parsed.range = name;
  if (name.empty() || (parsed.last != 0 && parsed.last < parsed.first)) return false;
  request = parsed;
  return true;
}

}  // namespace penstock::record
