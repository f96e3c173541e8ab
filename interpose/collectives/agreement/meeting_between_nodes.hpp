// Ranks of several nodes, which see none of each other's notes, meet here at a collective call and vote on
// how to carry it out, by an MPI_Iallreduce before each blocking collective. All ranks of the job run
// Penstock then (network/chunk_channel.hpp). This header knows no single collective.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/vote_slots.hpp"

namespace penstock::interpose {

/// How this rank would have a collective carried out: its vote. A value.
struct Proposal {
  Vote vote = Vote::library;
  std::optional<std::uint64_t> arguments;  ///< hash of what must be equal on all ranks; none: not compared
  std::uint64_t message_bytes = 0;         ///< of one of its messages, if all are about as large

  /// Returns what ranks of one node compare of the arguments, in the form of Ballot and of agreement rings.
  [[nodiscard]] std::uint16_t signature() const noexcept {
    return arguments ? signature_of(*arguments) : std::uint16_t{0};
  }
};

/// Meets the other ranks of a communicator that spans nodes; all call this in the same collective. Returns
/// the same on all: messages if all ranks vote for them, one has a device buffer, and the messages are large.
/// Progresses until the last has arrived. Cost: an MPI_Iallreduce of six words.
[[nodiscard]] Decision meet_between_nodes(MPI_Comm communicator, CommunicatorInfo& info,
                                          const Proposal& proposal);

}  // namespace penstock::interpose
