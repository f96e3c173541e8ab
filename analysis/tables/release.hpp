// Frees the memory of a vector. Must not know what it holds.
#pragma once

#include <vector>

namespace penstock::analysis {

/// Frees the memory, which `items = {}` and clear() would keep.
template <typename Item>
void release(std::vector<Item>& items) noexcept {
  std::vector<Item>().swap(items);
}

}  // namespace penstock::analysis
