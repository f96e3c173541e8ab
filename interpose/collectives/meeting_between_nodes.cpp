#include "interpose/collectives/meeting_between_nodes.hpp"

#include <utility>

#include "interpose/progress/progress.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {
namespace {

/// The ranks' votes; MPI_MAX combines each member.
struct Words {
  std::uint64_t wants_library = 0;
  std::uint64_t has_device_buffer = 0;
  std::uint64_t arguments = 0;
  std::uint64_t inverted_arguments = 0;  ///< yields the smallest signature, too
  std::uint64_t message_bytes = 0;
  std::uint64_t least_message_bytes = 0;  ///< each rank's own figure, which may differ
};

Words words_of(const Wish& wish) noexcept {
  Words words;
  words.wants_library = wish.preference == Preference::library ? 1 : 0;
  words.has_device_buffer = has_device_buffer(wish.preference) ? 1 : 0;
  if (wish.arguments) {
    words.arguments = *wish.arguments;
    words.inverted_arguments = ~*wish.arguments;
  }
  words.message_bytes = wish.message_bytes;
  words.least_message_bytes = transports::tuning().network_from;
  return words;
}

/// Decides from all votes. Smaller messages cost 10 µs and more each, and are copied whole.
Way way_of(const Words& all) noexcept {
  const bool nothing_is_said = all.arguments == 0 && all.inverted_arguments == 0;
  const bool fit_together = nothing_is_said || all.arguments == ~all.inverted_arguments;
  const bool by_messages = all.wants_library == 0 && all.has_device_buffer != 0 && fit_together &&
                           all.message_bytes >= all.least_message_bytes;
  return by_messages ? Way::messages : Way::library;
}

}  // namespace

Way meet_between_nodes(MPI_Comm communicator, CommunicatorInfo& info, const Wish& wish) {
  // the library refused the call on this rank alone, so the others are in the library's call
  if (std::exchange(info.has_met, false)) return Way::library;
  info.arrivals.fetch_add(1, std::memory_order_relaxed);
  MPI_Request request = MPI_REQUEST_NULL;
  if (info.is_inter) {
    // an MPI_Iallreduce would give each group the other's votes; but no rank votes there
    if (PMPI_Ibarrier(communicator, &request) == MPI_SUCCESS) wait_polling(&request, MPI_STATUS_IGNORE);
    return Way::library;
  }
  const Words own = words_of(wish);
  Words all;
  constexpr int words = sizeof(Words) / sizeof(std::uint64_t);
  int code = PMPI_Iallreduce(&own, &all, words, MPI_UINT64_T, MPI_MAX, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? way_of(all) : Way::library;
}

}  // namespace penstock::interpose
