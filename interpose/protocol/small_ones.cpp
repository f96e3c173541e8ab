#include "interpose/protocol/small_ones.hpp"

#include <cstdint>
#include <new>
#include <utility>

#include "interpose/node/policy.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

std::atomic<unsigned> in_flight{0};

/// Its address identifies the thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local char this_thread = 0;
/// The thread that began the latest of them.
std::atomic<const char*> thread_of_latest{nullptr};

}  // namespace

void SmallOne::begin() noexcept {
  if (std::exchange(is_in_flight_, true)) return;
  thread_of_latest.store(&this_thread, std::memory_order_relaxed);
  in_flight.fetch_add(1, std::memory_order_relaxed);
}

void SmallOne::end() noexcept {
  if (std::exchange(is_in_flight_, false)) in_flight.fetch_sub(1, std::memory_order_relaxed);
}

const std::atomic<unsigned>& small_ones_in_flight() noexcept {
  return in_flight;
}

void finish_small_ones() noexcept try {
  // below MPI_THREAD_MULTIPLE nothing is locked, but any thread may call MPI_Initialized and a few others
  if (!request_table().is_threaded() && thread_of_latest.load(std::memory_order_relaxed) != &this_thread)
    return;
  const std::uint64_t begin_ns = record::now_ns();
  while (in_flight.load(std::memory_order_relaxed) != 0 &&
         record::now_ns() - begin_ns < policy::finish_small_pulls_ns) {
    progress();
  }
} catch (const std::bad_alloc&) {
  // the next call continues them
}

}  // namespace penstock::interpose
