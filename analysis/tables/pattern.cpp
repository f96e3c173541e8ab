#include "analysis/tables/pattern.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::analysis {

bool matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t behind_star = std::string_view::npos;
  std::size_t star_reaches = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      behind_star = ++at;
      star_reaches = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (behind_star != std::string_view::npos) {
      at = behind_star;
      i = ++star_reaches;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(at), pattern.end(),
                     [](char each) { return each == '*'; });
}

}  // namespace penstock::analysis
