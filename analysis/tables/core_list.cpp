#include "analysis/tables/core_list.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

namespace penstock::analysis {
namespace {

constexpr std::uint32_t most_cores = 1 << 16;

/// Takes a number off the front of a text.
std::optional<std::uint32_t> next_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number >= most_cores) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

Cores cores_in(std::string_view text) {
  Cores cores;
  while (!text.empty()) {
    const std::optional<std::uint32_t> first = next_number(text);
    std::optional<std::uint32_t> last = first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = next_number(text);
    }
    if (!first || !last || *last < *first) return {};
    for (std::uint32_t core = *first; core <= *last; ++core) cores.insert(core);
    if (text.empty()) return cores;
    if (!text.starts_with(',')) return {};
    text.remove_prefix(1);
    if (text.empty()) return {};
  }
  return cores;
}

bool have_common(const Cores& left, const Cores& right) noexcept {
  return std::any_of(left.begin(), left.end(), [&](std::uint32_t core) { return right.contains(core); });
}

}  // namespace penstock::analysis
