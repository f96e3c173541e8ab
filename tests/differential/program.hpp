// A random MPI program as plain data: what is sent, received and reduced, in which memory, and in which order
// each rank does it. Every rank derives the same program from a seed. Knows no MPI.
//
// Order: all ranks' actions come from one global list in which each action can complete once those before it
// have (a blocking receive stands after its send has started, and so on), so that no program can deadlock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/differential/place.hpp"
#include "tests/differential/planted.hpp"
#include "tests/support/callbacks.hpp"

namespace penstock::differential {

using test_support::Callback;

struct Message {
  int source = 0;  ///< ranks in the program, also where the communicator numbers them otherwise
  int destination = 0;
  int communicator = 0;
  int tag = 0;
  Base base = Base::byte;
  Place send;
  Place receive;
  bool any_source = false;
  bool any_tag = false;
  int send_request = -1;  ///< the first message of those that share a persistent request; -1: not persistent
  int receive_request = -1;
  bool frees_request = false;   ///< MPI_Request_free right after Isend
  bool fills_late = false;      ///< payload is written by a copy queued just before the send
  bool checks_at_once = false;  ///< the receiver reads its buffer as soon as the receive completes
  bool is_early = false;        ///< its receive is posted before its rank uses a GPU
};

enum class CollectiveCall : std::uint8_t {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  neighbor_allgather,
  neighbor_alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  count_
};

/// Operations whose result does not depend on how an MPI associates them.
enum class Reduction : std::uint8_t {
  int_sum,
  long_bxor,
  double_sum,
  pair_minloc,
  complex_product,
  bool_lxor,
  short_int_minloc,
  double_int_maxloc,
  affine_compose,
  count_
};
/// Bytes of each element that belong to no part of it, and that MPI libraries may write or not.
struct Gap {
  std::size_t begin = 0;
  std::size_t end = 0;
};
[[nodiscard]] Gap gap_of(Reduction reduction);

struct Collective {
  CollectiveCall call{};
  bool blocking = true;
  bool in_place = false;
  int communicator = 0;
  int root = 0;  ///< rank in the communicator
  Reduction reduction{};
  std::vector<int> counts;  ///< per member of the communicator (units; for uniform calls all alike)
  struct Member {
    Region send;
    Region receive;
    bool send_has_gaps = false;
    bool receive_has_gaps = false;
    // absolute: each unit's first half lies in the region above and its second in this one, from MPI_BOTTOM
    bool send_is_absolute = false;
    bool receive_is_absolute = false;
    Region send_rest;
    Region receive_rest;
  };
  bool has_empty_units = false;  ///< each unit has no bytes, whatever the counts are
  std::vector<Member> members;   ///< in the communicator's order
};

/// Messages to one rank that may match its wildcard receives in any order between sources, never within one.
struct Race {
  int destination = 0;
  std::vector<int> sources;  ///< one entry a message, in order of sending by each source
  std::vector<Region> sends;
  std::vector<Region> receives;
  enum class How : std::uint8_t { receives_first, probe, matched_probe, persistent } how{};
};

/// A receive that nothing matches, and that is cancelled.
struct Unmatched {
  int rank = 0;
  int communicator = 0;
  int tag = 0;
  Region region;
};

enum class ActionKind : std::uint8_t {
  meet,
  use_gpu,  ///< the first action of a rank but for early receives
  send,
  ssend,
  rsend,
  bsend,
  isend,
  issend,
  irsend,
  ibsend,
  start_send,
  recv,
  irecv,
  start_receive,
  probe_recv,
  iprobe_irecv,
  mprobe_mrecv,
  improbe_imrecv,
  sendrecv,
  waitall,
  waitany,
  waitsome,
  wait_each,
  testall,
  testsome,
  testany,
  poke,  ///< one MPI_Testsome of everything outstanding, whatever it yields
  collective,
  race,
  unmatched_receive,
  unmatched_cancel,
  freed_start,
  freed_finish,
  planted_errors,
  pause,
};

/// Kinds of operation that have a request.
enum class OperationKind : std::uint8_t { send, receive, collective };
struct Operation {
  OperationKind kind{};
  int index = 0;
  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Action {
  ActionKind kind{};
  int index = 0;  ///< of the message, collective, race, unmatched receive; microseconds of a pause
  int other = 0;  ///< sendrecv: the message received
  std::vector<Operation> targets;  ///< completions: what must be complete when the action ends
  std::optional<Callback> inside;  ///< that MPI calls on this rank for it
};

/// Ranks that a program may have. Of a larger job the others only meet with these between programs.
inline constexpr int most_ranks = 6;

/// A communicator: its members in order. 0 is the program's world, the others are made from it.
struct Communicator {
  std::vector<int> members;
  int color_of_rank[most_ranks] = {};
  int key_of_rank[most_ranks] = {};
  bool is_duplicate = false;
};

/// What is beside ordinary messages and collectives, so that each can be left out.
struct Families {
  bool early = true;
  bool absolute = true;
  bool absolute_everywhere = true;  ///< in Gather, Scatter, Allgather and all-to-alls, too
  bool empty = true;
  bool freed = true;
  bool errors = true;
  bool finalize = true;
  bool callbacks = true;
};

struct Program {
  std::uint64_t seed = 0;
  int ranks = 2;
  std::vector<Communicator> communicators;
  std::vector<Message> messages;
  /// Receives of earlier messages name source and tag, and none of these messages is matched by a probe.
  int first_unnamed = 0;
  std::vector<Collective> collectives;
  std::vector<Race> races;
  std::vector<Unmatched> unmatched;
  std::vector<Freed> freed;
  std::vector<PlantedErrors> errors;
  bool uses_no_gpu[most_ranks] = {};
  std::vector<std::vector<Action>> actions;  ///< of each rank
  std::size_t arena_bytes[most_ranks][test_support::memory_kinds.size()] = {};
};

/// Bytes of one unit of a collective: its memory, with or without gaps; or of a reduction's element.
inline constexpr std::size_t unit_bytes = 12;
inline constexpr std::size_t unit_bytes_with_gaps = 24;
[[nodiscard]] std::size_t element_bytes(Reduction reduction);
[[nodiscard]] bool is_reduction(CollectiveCall call);
/// Whether each member gives or gets a share of its own size.
[[nodiscard]] bool shares_vary(CollectiveCall call);
/// Of a ring: each member's neighbours are those before and after it.
[[nodiscard]] constexpr bool is_of_neighbours(CollectiveCall call) {
  return call == CollectiveCall::neighbor_allgather || call == CollectiveCall::neighbor_alltoall;
}
[[nodiscard]] const char* name_of(CollectiveCall call);

/// One line about an operation, for the report of a difference.
[[nodiscard]] std::string describe(const Message& message);
[[nodiscard]] std::string describe(const Collective& collective);

}  // namespace penstock::differential
