// How often messages were written to posted receives, for tests and for whoever wonders: as info keys of
// every communicator, since MPI gives libraries no better place. Knows info objects only.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstdio>

#include "interpose/posted/message_order.hpp"
#include "interpose/posted/shown_receive.hpp"

namespace penstock::interpose {

/// Adds this process's counts so far to what MPI_Comm_get_info returns; only where messages are counted, or
/// were until something ended that.
inline void add_posted_counts(MPI_Info info) noexcept {
  const auto add = [&](const char* key, std::uint64_t count) {
    char text[24];
    std::snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(count));
    PMPI_Info_set(info, key, text);
  };
  const ShownCounts receives = shown_counts();
  if (!counts_messages() && receives.shown == 0 && sends_written() == 0) return;
  add("penstock_receives_shown", receives.shown);
  add("penstock_receives_written", receives.written);
  add("penstock_sends_written", sends_written());
}

}  // namespace penstock::interpose
