#include "analysis/layout/text_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

namespace penstock::analysis {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 8;  ///< of a column that gives way

bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string spaces(width - std::min(width, width_of(text)), ' ');
  return align == Align::left ? text + spaces : spaces + text;
}

/// Returns the bytes of the first word, or of a number and its unit, which stay on one line.
std::size_t end_of_word(std::string_view text) {
  static constexpr std::array<std::string_view, 8> units{"%", "s", "ms", "µs", "ns", "MiB", "KiB", "GB/s"};
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == text.size() || end == 0 || std::isdigit(static_cast<unsigned char>(text[end - 1])) == 0) {
    return end;
  }
  const std::size_t next_end = std::min(text.find(' ', end + 1), text.size());
  std::string_view next = text.substr(end + 1, next_end - end - 1);
  while (!next.empty() && std::string_view(".,;:)").find(next.back()) != std::string_view::npos) {
    next.remove_suffix(1);
  }
  return std::find(units.begin(), units.end(), next) == units.end() ? end : next_end;
}

}  // namespace

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width_of(text) <= width) {
    return std::string(text);
  }
  std::size_t end = 0;
  for (std::size_t columns = 0; end < text.size(); ++end) {
    if (begins_character(text[end]) && ++columns == width) {
      break;
    }
  }
  return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::size_t end = end_of_word(text);
    const std::string_view word = text.substr(0, end);
    const bool opens_line = width_of(lines.back()) == (lines.size() == 1 ? 0 : indent);
    if (!opens_line && width_of(lines.back()) + 1 + width_of(word) > width) {
      lines.push_back(std::string(indent, ' '));
    } else if (!opens_line) {
      lines.back() += ' ';
    }
    lines.back() += shortened(word, width - indent);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string printable(std::string_view text) {
  std::string clean(text);
  std::replace_if(
      clean.begin(), clean.end(),
      [](char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }, ' ');
  return clean;
}

std::vector<std::string> TextTable::lines(std::size_t width) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t widest = width_of(columns_[i].title);
    for (const auto& row : rows_) {
      widest = std::max(widest, width_of(row[i]));
    }
    widths.push_back(widest);
  }
  std::size_t total = std::accumulate(widths.begin(), widths.end(), gap * (columns_.size() - 1));
  for (; total > width; --total) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].gives_way && widths[i] > narrowest && (widest == nullptr || widths[i] > *widest)) {
        widest = &widths[i];
      }
    }
    if (widest == nullptr) {
      break;
    }
    --*widest;
  }
  const auto line_of = [&](const auto& cell_at) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      line += (i == 0 ? "" : std::string(gap, ' ')) +
              padded(shortened(cell_at(i), widths[i]), widths[i], columns_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  std::vector<std::string> lines;
  lines.push_back(line_of([this](std::size_t i) { return columns_[i].title; }));
  for (const auto& row : rows_) {
    lines.push_back(line_of([&row](std::size_t i) { return row[i]; }));
  }
  return lines;
}

}  // namespace penstock::analysis
