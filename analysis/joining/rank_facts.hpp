// What the other ranks, and the job as a whole, need to know of a rank once its records are forgotten: its
// halves of messages, its transfers, when it came to collectives. Made of one rank alone, so that many can be
// made at the same time; MessageIndex joins them. Knows no other rank.
//
// Memory: 44 bytes a half, 48 a transfer and 40 a collective call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/joining/message_class.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Which rank gave a message its key, from 1 on (trace::MessageHalf); 0: of no key.
[[nodiscard]] constexpr std::uint32_t sender_part_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key >> 40);
}

/// What the other side of a message needs to know of a half. Unit: ns of its host's clock.
struct HalfFacts {
  std::uint64_t post_ns = 0;
  std::uint64_t complete_ns = 0;
  std::uint64_t noticed_ns = 0;  ///< earliest time when the rank was in MPI and could serve the message
  std::uint64_t key = 0;
  /// Where the MPI library's own transport carried it; known after MessageIndex::join().
  std::uint32_t message_class = MessageClasses::no_message;
  trace::BufferKind buffer = trace::BufferKind::unknown;
  trace::Direction direction = trace::Direction::send;
  std::uint8_t size_class = 0;  ///< of its bytes: in the order of size_limits_bytes
};

/// A device payload's movement, as either side recorded it.
struct TransferFacts {
  std::uint64_t key = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t host = 0;
  std::uint32_t pack_ns = 0;
  std::uint32_t wait_ns = 0;
  std::uint32_t message_class = MessageClasses::no_message;
  trace::TransportKind transport = trace::TransportKind::none;
  bool is_of_message = false;  ///< of the application: a half of it was recorded. Else a collective's own
};

/// Halves that can only meet halves of one group of the peer, in the order in which they do: by key where
/// they have one, else by when they were posted.
struct HalfGroup {
  std::int32_t peer = -1;
  bool has_keys = false;
  trace::Direction direction = trace::Direction::send;
  std::uint64_t communicator = 0;  ///< global id; 0 where keys are enough
  std::int32_t tag = 0;
  std::uint32_t begin = 0;  ///< in RankFacts::in_groups
  std::uint32_t end = 0;
};

/// The starts of a persistent collective are counted by themselves, as ranks may start several in any order:
/// what stands for the communicator's global id there. `ordinal`: of the call that initialised it.
[[nodiscard]] std::uint64_t starts_id(std::uint64_t communicator, std::uint32_t ordinal) noexcept;

/// A rank's coming to a collective call, or starting a persistent one.
struct CollectiveArrival {
  std::uint64_t communicator;  ///< global id, or starts_id()
  std::uint64_t came_ns;
  std::uint64_t left_ns;
  std::uint32_t ordinal;  ///< of the call on that communicator, or of the start
  std::int32_t expected;  ///< ranks of the communicator
  bool is_root;
  bool nobody_leaves_before;  ///< see Arrivals
};

struct RankFacts {
  std::int32_t rank = -1;
  std::string host_name;
  Interval run;
  std::vector<HalfFacts> halves;         ///< as RankTrace::halves
  std::vector<HalfGroup> groups;         ///< in order, see find_group()
  std::vector<std::uint32_t> in_groups;  ///< halves by group; those that can meet none are left out
  std::vector<TransferFacts> transfers;  ///< as RankTrace::transfers; their classes in `classes` below
  std::vector<CollectiveArrival> arrivals;
  MessageClasses classes;  ///< of the transfers

  /// See archive.hpp.
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(rank, host_name, run, halves, groups, in_groups, transfers, arrivals, classes);
  }
};

[[nodiscard]] RankFacts facts_of(const RankTrace& rank);

/// The group of `facts` that meets `mine`, which is one of `rank`; null if there is none.
[[nodiscard]] const HalfGroup* find_counterpart(const RankFacts& facts, std::int32_t rank,
                                                const HalfGroup& mine) noexcept;

}  // namespace penstock::analysis
