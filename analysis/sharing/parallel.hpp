// Runs work on many ranks in several threads. Must not know what the work is.
#pragma once

#include <cstddef>
#include <functional>

namespace penstock::analysis {

/// The work for item `i`. `worker` is below the number of threads and selects a thread's private data.
using ItemWork = std::function<void(std::size_t i, unsigned worker)>;

/// Calls work(i, worker) for all i below `count`, in up to `threads` threads; with one, in the caller's.
/// Errors: if several items throw, the exception of the lowest item is rethrown.
void for_each(std::size_t count, unsigned threads, const ItemWork& work);

/// Does the same and calls merge(i, worker) after each item's work: one at a time and in item order, so that
/// the result is the same for any number of threads. A worker starts its next item after its last one is
/// merged.
void for_each_in_order(std::size_t count, unsigned threads, const ItemWork& work, const ItemWork& merge);

/// Returns the number of threads that this process may run at a time.
[[nodiscard]] unsigned usable_threads() noexcept;

}  // namespace penstock::analysis
