#include "interpose/record/python/python_lines.hpp"

namespace penstock::record {
namespace {

using Table = std::span<const std::byte>;

/// Lines are summed up without a sign, so that no damaged table overflows.
int as_line(std::uint32_t sum) noexcept {
  const auto line = static_cast<std::int32_t>(sum);
  return line > 0 ? line : 0;
}

std::uint32_t signed_byte(std::byte byte) noexcept {
  return static_cast<std::uint32_t>(std::int32_t{static_cast<std::int8_t>(byte)});
}

/// Pairs of how far the address and the line go on. The line is that of the last pair whose address is
/// reached.
std::optional<int> line_by_steps(Table table, bool is_whole, std::uint32_t line,
                                 std::uint64_t offset) noexcept {
  std::uint64_t address = 0;
  for (std::size_t i = 0; i + 2 <= table.size(); i += 2) {
    address += std::to_integer<std::uint8_t>(table[i]);
    if (address > offset) return as_line(line);
    line += signed_byte(table[i + 1]);
  }
  return is_whole ? std::optional(as_line(line)) : std::nullopt;
}

/// Pairs of a range's size, and how far its line is from the line before.
std::optional<int> line_by_ranges(Table table, std::uint32_t line, std::uint64_t offset) noexcept {
  constexpr std::byte no_line{0x80};
  std::uint64_t end = 0;
  for (std::size_t i = 0; i + 2 <= table.size(); i += 2) {
    end += std::to_integer<std::uint8_t>(table[i]);
    if (table[i + 1] != no_line) line += signed_byte(table[i + 1]);
    if (end > offset) return table[i + 1] == no_line ? 0 : as_line(line);
  }
  return std::nullopt;
}

/// Reads a number of 6 bits a byte; false: the table ends in it.
bool read_number(Table table, std::size_t& at, std::uint32_t& number) noexcept {
  number = 0;
  for (unsigned shift = 0;; shift += 6) {
    if (at == table.size()) return false;
    const auto byte = std::to_integer<std::uint32_t>(table[at++]);
    if (shift < 32) number |= (byte & 63) << shift;
    if ((byte & 64) == 0) return true;
  }
}

/// Entries whose first byte alone has the highest bit: their kind, how many units of two bytes they are for,
/// and by kind how far their line is from the line before.
std::optional<int> line_by_locations(Table table, std::uint32_t line, std::uint64_t offset) noexcept {
  constexpr unsigned one_line = 10;  // to 12: lines further
  constexpr unsigned without_columns = 13;
  constexpr unsigned long_form = 14;
  constexpr unsigned no_location = 15;
  std::uint64_t end = 0;
  for (std::size_t at = 0; at < table.size();) {
    const auto head = std::to_integer<unsigned>(table[at++]);
    const unsigned kind = head >> 3 & 15;
    if (kind == without_columns || kind == long_form) {
      std::uint32_t number = 0;
      if (!read_number(table, at, number)) return std::nullopt;
      line += (number & 1) != 0 ? 0u - (number >> 1) : number >> 1;
    } else if (kind >= one_line && kind < without_columns) {
      line += kind - one_line;
    }
    end += ((head & 7) + 1) * 2;
    if (end > offset) return kind == no_location ? 0 : as_line(line);
    while (at < table.size() && (table[at] & std::byte{0x80}) == std::byte{}) ++at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int> line_in_table(PythonLayout::Lines kind, Table table, bool is_whole, int first_line,
                                 std::uint64_t offset) noexcept {
  const auto line = static_cast<std::uint32_t>(first_line);
  if (kind == PythonLayout::Lines::steps) return line_by_steps(table, is_whole, line, offset);
  const std::optional<int> found = kind == PythonLayout::Lines::ranges
                                       ? line_by_ranges(table, line, offset)
                                       : line_by_locations(table, line, offset);
  return found || !is_whole ? found : std::optional(0);
}

}  // namespace penstock::record
