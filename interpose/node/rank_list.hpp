// A list of ranks as people write it in settings: "0,3-5". Knows nothing of its use.
#pragma once

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

namespace penstock::interpose {

class RankList {
 public:
  /// Returns false, and changes nothing, if the text is no list.
  [[nodiscard]] bool parse(std::string_view text) {
    std::vector<std::pair<int, int>> ranges;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto number = [&](int& value) {
      const auto [behind, error] = std::from_chars(at, end, value);
      at = behind;
      return error == std::errc{} && value >= 0;
    };
    while (true) {
      std::pair<int, int>& range = ranges.emplace_back();
      if (!number(range.first)) return false;
      range.second = range.first;
      if (at != end && *at == '-' && (++at, !number(range.second))) return false;
      if (range.second < range.first) return false;
      if (at == end) break;
      if (*at++ != ',') return false;
    }
    ranges_ = std::move(ranges);
    return true;
  }
  /// An empty list, the default, holds all ranks.
  [[nodiscard]] bool is_empty() const noexcept { return ranges_.empty(); }
  [[nodiscard]] bool holds(int rank) const noexcept {
    return is_empty() || std::any_of(ranges_.begin(), ranges_.end(), [rank](const auto& range) {
             return range.first <= rank && rank <= range.second;
           });
  }
  /// Returns how many of a job's ranks it holds.
  [[nodiscard]] int count_of(int world_size) const noexcept {
    int count = 0;
    for (int rank = 0; rank < world_size; ++rank) count += holds(rank) ? 1 : 0;
    return count;
  }
  /// Returns the smallest rank.
  [[nodiscard]] int first() const noexcept {
    return is_empty() ? 0 : std::min_element(ranges_.begin(), ranges_.end())->first;
  }

 private:
  std::vector<std::pair<int, int>> ranges_;
};

}  // namespace penstock::interpose
