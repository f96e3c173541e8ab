// The distance between two words, for notices that guess what a misspelt name was meant to be.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <vector>

namespace penstock::interpose {

/// Returns the fewest letters to insert, remove or replace, or neighbours to swap, that turn one word into
/// the other. Cost: the product of their lengths. Throws std::bad_alloc.
[[nodiscard]] inline std::size_t edit_distance(std::string_view from, std::string_view to) {
  // distances of the first i, i - 1 and i - 2 letters of `from` to the first j of `to`
  std::vector<std::size_t> now(to.size() + 1);
  std::vector<std::size_t> before(to.size() + 1);
  std::vector<std::size_t> earlier(to.size() + 1);
  std::iota(now.begin(), now.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    earlier.swap(before);
    before.swap(now);
    now[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t replaced = before[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1]) {
        now[j] = std::min(now[j], earlier[j - 2] + 1);
      }
    }
  }
  return now[to.size()];
}

}  // namespace penstock::interpose
