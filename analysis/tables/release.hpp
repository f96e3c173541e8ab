// Gives the memory of a vector back. Knows nothing of what is in it.
#pragma once

#include <vector>

namespace penstock::analysis {

/// Where `items = {}` and clear() would keep it.
template <typename Item>
void release(std::vector<Item>& items) noexcept {
  std::vector<Item>().swap(items);
}

}  // namespace penstock::analysis
