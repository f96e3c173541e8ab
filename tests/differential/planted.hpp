// What programs do beside ordinary messages and collectives: free handles early, and receive with too little
// room. As plain data. Knows no MPI.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/differential/place.hpp"

namespace penstock::differential {

/// Messages, and a collective, whose communicator, types and operation are freed while they are pending; new
/// ones are made at once, which may get the same handles.
struct Freed {
  struct Transfer {
    int source = 0;
    int destination = 0;
    bool is_persistent = false;
    bool is_synchronous = false;
    int stride = 1;  ///< of the integers, in the sender's type; 1: predefined
    Region send;
    Region receive;
  };
  std::vector<Transfer> transfers;
  bool reverses_ranks = false;  ///< the communicator, whose handle another one may get
  bool reduces = false;         ///< a non-blocking collective with an operation of its own is pending, too
  int reduced = 0;              ///< elements
  std::vector<Region> reduce_sends;
  std::vector<Region> reduce_receives;
  bool frees_before_receiving = false;  ///< receivers come late
  bool hints_vertex_sets = false;       ///< what is made anew says that lists may be sorted
};

/// Receives that are too short for their messages, on a duplicate with a handler of its own.
struct PlantedErrors {
  enum class Handler : std::uint8_t { returns, counts } handler{};
  enum class How : std::uint8_t {
    recv,
    sendrecv,
    probe_recv,
    mrecv,
    imrecv,
    wait,
    test,
    waitall,
    testall,
    waitany,
    testany,
    waitsome,
    testsome,
    persistent,
    persistent_waitall,
    // collectives of the two ranks: the destination has no room for what the source gives
    bcast,
    gather,
    scatter,
    count_
  };
  struct Short {
    int source = 0;
    int destination = 0;
    How how{};
    Region send;
    Region receive;
    bool sends_first = false;
    bool with_another = false;  ///< a message that is right is completed by the same call
    Region other_send;
    Region other_receive;
  };
  std::vector<Short> messages;
  [[nodiscard]] static constexpr bool is_collective(How how) { return how >= How::bcast; }
};

}  // namespace penstock::differential
