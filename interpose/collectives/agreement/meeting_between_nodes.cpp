#include "interpose/collectives/agreement/meeting_between_nodes.hpp"

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

Words words_of(const Proposal& proposal) noexcept {
  Words words;
  words.wants_library = proposal.vote == Vote::library ? 1 : 0;
  words.has_device_buffer = has_device_buffer(proposal.vote) ? 1 : 0;
  if (proposal.arguments) {
    words.arguments = *proposal.arguments;
    words.inverted_arguments = ~*proposal.arguments;
  }
  words.message_bytes = proposal.message_bytes;
  words.least_message_bytes = transports::tuning().network_from;
  return words;
}

/// Decides from all votes. Smaller messages cost 10 µs and more each, and are copied whole.
Decision way_of(const Words& all) noexcept {
  const bool nothing_is_said = all.arguments == 0 && all.inverted_arguments == 0;
  const bool fit_together = nothing_is_said || all.arguments == ~all.inverted_arguments;
  const bool by_messages = all.wants_library == 0 && all.has_device_buffer != 0 && fit_together &&
                           all.message_bytes >= all.least_message_bytes;
  return by_messages ? Decision::messages : Decision::library;
}

}  // namespace

Decision meet_between_nodes(MPI_Comm communicator, CommunicatorInfo& info, const Proposal& proposal) {
  // the library refused the call on this rank alone, so the others are in the library's call
  if (std::exchange(info.has_met, false)) return Decision::library;
  info.arrivals.fetch_add(1, std::memory_order_relaxed);
  MPI_Request request = MPI_REQUEST_NULL;
  if (info.is_inter) {
    // an MPI_Iallreduce would give each group the other's votes; but no rank votes there
    if (PMPI_Ibarrier(communicator, &request) == MPI_SUCCESS) wait_polling(&request, MPI_STATUS_IGNORE);
    return Decision::library;
  }
  const Words own = words_of(proposal);
  Words all;
  constexpr int words = sizeof(Words) / sizeof(std::uint64_t);
  int code = PMPI_Iallreduce(&own, &all, words, MPI_UINT64_T, MPI_MAX, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? way_of(all) : Decision::library;
}

}  // namespace penstock::interpose
