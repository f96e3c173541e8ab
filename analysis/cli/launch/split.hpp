// Lists in one text, as environment variables and files of the loader have them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cli {

/// Returns the items between the separators, without empty ones.
[[nodiscard]] inline std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> items;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end != 0) {
      items.emplace_back(list.substr(0, end));
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return items;
}

}  // namespace penstock::cli
