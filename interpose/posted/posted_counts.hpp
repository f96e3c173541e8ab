// How often messages were written to posted receives, for tests and for whoever wonders: as info keys of
// every communicator, since MPI gives libraries no better place. Knows info objects only.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <cstdio>

namespace penstock::interpose {

/// Of this process so far. Thread: any.
struct PostedCounts {
  std::atomic<std::uint64_t> receives_shown{0};    ///< to their senders
  std::atomic<std::uint64_t> receives_written{0};  ///< by them
  std::atomic<std::uint64_t> sends_written{0};     ///< to others' receives
};
inline constinit PostedCounts posted_counts;

/// Adds the counts to what MPI_Comm_get_info returns, if there are any.
inline void add_posted_counts(MPI_Info info) noexcept {
  const auto add = [&](const char* key, const std::atomic<std::uint64_t>& count) {
    char text[24];
    std::snprintf(text, sizeof text, "%llu",
                  static_cast<unsigned long long>(count.load(std::memory_order_relaxed)));
    PMPI_Info_set(info, key, text);
  };
  const PostedCounts& counts = posted_counts;
  if (counts.receives_shown == 0 && counts.sends_written == 0) return;
  add("penstock_receives_shown", counts.receives_shown);
  add("penstock_receives_written", counts.receives_written);
  add("penstock_sends_written", counts.sends_written);
}

}  // namespace penstock::interpose
