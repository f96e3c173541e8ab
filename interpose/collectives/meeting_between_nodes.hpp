// How ranks of several nodes, who see none of each other's notes, meet at a collective call and agree on how
// to carry it out: by a message of the MPI library's, before each blocking collective. All ranks of the job
// run Penstock then (network/channel.hpp). Knows no single collective.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/arrival_places.hpp"

namespace penstock::interpose {

/// How this rank would have a collective carried out. A value.
struct Wish {
  Preference preference = Preference::library;
  std::uint16_t signature = 0;  ///< signature_of() what must be equal on all ranks; 0: nothing is said of it
  std::uint64_t bytes = 0;      ///< that it sends or gets, as far as it matters how many
};

/// All ranks of a communicator that spans nodes come here in the same collective. Returns the same on all of
/// them: messages if all agree, one has a device buffer, and there is enough to send. Progresses until the
/// last has come. Cost: an MPI_Iallreduce of five words.
[[nodiscard]] Way meet_between_nodes(MPI_Comm communicator, CommunicatorInfo& info, const Wish& wish);

}  // namespace penstock::interpose
