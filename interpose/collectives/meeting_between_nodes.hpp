// How ranks of several nodes, who see none of each other's notes, meet at a collective call and agree on how
// to carry it out: by a message of the MPI library's, before each blocking collective. All ranks of the job
// run Penstock then (network/channel.hpp). Knows no single collective.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/arrival_places.hpp"

namespace penstock::interpose {

/// How this rank would have a collective carried out. A value.
struct Wish {
  Preference preference = Preference::library;
  std::optional<std::uint64_t> arguments;  ///< what must be equal on all ranks; none: nothing is said of it
  std::uint64_t message_bytes = 0;         ///< of a message of it, where all are about as large

  /// What ranks of one node compare of the arguments, as Said and agreement rings have it.
  [[nodiscard]] std::uint16_t signature() const noexcept {
    return arguments ? signature_of(*arguments) : std::uint16_t{0};
  }
};

/// All ranks of a communicator that spans nodes come here in the same collective. Returns the same on all of
/// them: messages if all agree, one has a device buffer, and its messages are large. Progresses until the
/// last has come. Cost: an MPI_Iallreduce of six words.
[[nodiscard]] Way meet_between_nodes(MPI_Comm communicator, CommunicatorInfo& info, const Wish& wish);

}  // namespace penstock::interpose
