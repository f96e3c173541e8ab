// Work on many ranks by several threads. Knows nothing of the work.
#pragma once

#include <cstddef>
#include <functional>

namespace penstock::analysis {

/// What is to be done for item `i`; `worker`: below the number of threads, for what each keeps for itself.
using ItemWork = std::function<void(std::size_t i, unsigned worker)>;

/// Calls work(i, worker) for all i below `count`, by up to `threads` threads; one: in the caller's. Errors:
/// of what the work throws, that of the lowest item.
void for_each(std::size_t count, unsigned threads, const ItemWork& work);

/// The same, and merge(i, worker) behind each item's work: one at a time and in the order of the items, so
/// that what is merged does not depend on the number of threads. A worker begins with another item when its
/// last one is merged.
void for_each_in_order(std::size_t count, unsigned threads, const ItemWork& work, const ItemWork& merge);

/// As many as this process may run at a time.
[[nodiscard]] unsigned usable_threads() noexcept;

}  // namespace penstock::analysis
