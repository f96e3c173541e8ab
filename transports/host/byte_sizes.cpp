#include "transports/host/byte_sizes.hpp"

#include <charconv>

namespace penstock::transports {
namespace {

constexpr std::string_view units = "KMG";

}  // namespace

bool parse_bytes(std::string_view text, std::uint64_t& bytes) noexcept {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unsigned shift = 0;
  if (!unit.empty()) {
    const std::size_t index = units.find(unit.front());
    if (unit.size() > 1 || index == std::string_view::npos) return false;
    shift = 10 * (static_cast<unsigned>(index) + 1);
  }
  if (number > (UINT64_MAX >> shift)) return false;
  bytes = number << shift;
  return true;
}

std::string bytes_text(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  std::string text = std::to_string(bytes);
  if (unit > 0) text += units[unit - 1];
  return text;
}

}  // namespace penstock::transports
