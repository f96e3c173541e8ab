#include "analysis/cli/manual/layout.hpp"

#include <algorithm>
#include <vector>

#include "analysis/layout/text_table.hpp"

namespace penstock::cli {
namespace {

constexpr std::size_t meaning_column = 28;

/// Code is bold, or in quotes where there are no colours. `is_inside` goes on from line to line.
std::string with_code(std::string_view line, bool has_colours, bool& is_inside) {
  std::string styled;
  for (const char each : line) {
    if (each != '`') {
      styled += each;
      continue;
    }
    is_inside = !is_inside;
    styled += !has_colours ? "'" : is_inside ? "\033[1m" : "\033[0m";
  }
  return styled;
}

/// Returns where a line goes on that is broken: below its second column, if it begins with blanks and has
/// one.
std::size_t continuation_of(std::string_view line) {
  if (!line.starts_with(' ')) return 0;
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("   ", first);
  return gap == std::string_view::npos ? first + 2 : std::min(line.find_first_not_of(' ', gap), line.size());
}

/// Returns the lines of a text without line ends; the first begins behind `offset` blanks, like the others.
std::string lines_of(std::string_view text, const Screen& screen, std::size_t offset) {
  std::string out;
  bool is_code = false;
  const std::size_t width = std::max<std::size_t>(screen.columns, offset + 20) - offset;
  for (const std::string& each : analysis::wrapped(text, width)) {
    out += std::string(offset, ' ') + with_code(each, screen.has_colours, is_code) + "\n";
  }
  return out;
}

}  // namespace

std::string paragraphs(std::string_view text, const Screen& screen, std::size_t indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      out += "\n";
    } else if (const std::size_t goes_on = continuation_of(line); goes_on == 0) {
      out += lines_of(line, screen, indent);
    } else {
      const std::string rest = lines_of(line.substr(goes_on), screen, indent + goes_on);
      out += std::string(indent, ' ') + std::string(line.substr(0, goes_on)) + rest.substr(indent + goes_on);
    }
  }
  return out;
}

std::string entry(std::string_view term, std::string_view meaning, const Screen& screen) {
  const std::string lines = meaning.empty() ? "" : lines_of(meaning, screen, meaning_column);
  const std::size_t used = 2 + analysis::width_of(term);
  if (lines.empty() || used + 2 > meaning_column) {
    std::string out;
    for (const std::string& each : analysis::wrapped(term, screen.columns - 2, 2)) out += "  " + each + "\n";
    return out + lines;
  }
  return "  " + std::string(term) + std::string(meaning_column - used, ' ') + lines.substr(meaning_column);
}

std::string heading(std::string_view text, const Screen& screen) {
  std::string out;
  for (const std::string& each : analysis::wrapped(text, screen.columns)) {
    out += screen.has_colours ? "\033[1m" + each + "\033[0m\n" : each + "\n";
  }
  return out;
}

}  // namespace penstock::cli
