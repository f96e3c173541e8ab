// The facts that other ranks, and the job as a whole, need of a rank once its records are forgotten: its
// halves of messages, its transfers, its arrivals at collectives, its calls that wait at windows or are
// waited for there. They are made of one rank alone, so that many can be made in parallel; MessageIndex joins
// them. Must not know other ranks.
//
// Memory: 44 bytes a half, 48 a transfer, 40 a collective call and 48 such a call on a window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/joining/message_class.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/window_calls.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Returns the rank that gave a message its key, from 1 on (trace::MessageHalf); 0 if there is no key.
[[nodiscard]] constexpr std::uint32_t sender_part_of(std::uint64_t key) noexcept {
  return static_cast<std::uint32_t>(key >> 40);
}

/// The facts of a half that the other side of a message needs. Unit: ns of its host's clock.
struct HalfFacts {
  std::uint64_t post_ns = 0;
  std::uint64_t complete_ns = 0;
  std::uint64_t noticed_ns = 0;  ///< earliest time when the rank was in MPI and could serve the message
  std::uint64_t key = 0;
  /// Before MessageIndex::join(): the class of the staging copy that this rank made of the message, if it has
  /// no key. After it: the class of the message, unless transfers with its key tell it.
  std::uint32_t message_class = MessageClasses::no_message;
  trace::BufferKind buffer = trace::BufferKind::unknown;
  trace::Direction direction = trace::Direction::send;
  std::uint8_t size_class = 0;  ///< of its bytes: an index into size_limits_bytes
};

/// The movement of a device payload, as either side recorded it.
struct TransferFacts {
  std::uint64_t key = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t host = 0;
  std::uint32_t pack_ns = 0;
  std::uint32_t wait_ns = 0;
  std::uint32_t message_class = MessageClasses::no_message;
  trace::TransportKind transport = trace::TransportKind::none;
  bool is_of_message = false;    ///< true: a half of an application message was recorded for it; false: it
                                 ///< belongs to a collective
  std::uint32_t half = no_half;  ///< of those without a key: the half of this rank that it is a copy of

  static constexpr std::uint32_t no_half = ~std::uint32_t{0};
};

/// Halves that can only meet halves of one group of the peer, in pairing order: by key if they have one, else
/// by post time.
struct HalfGroup {
  std::int32_t peer = -1;
  bool has_keys = false;
  trace::Direction direction = trace::Direction::send;
  std::uint64_t communicator = 0;  ///< global id; 0 if keys identify the messages
  std::int32_t tag = 0;
  std::uint32_t begin = 0;  ///< in RankFacts::in_groups
  std::uint32_t end = 0;
  std::uint64_t before = 0;  ///< how many halves of the group came before the first: they are not recorded
};

/// Returns the id under which starts of a persistent collective are counted, in place of the communicator's
/// global id; ranks may start several persistent collectives in any order. `ordinal`: of the call that
/// initialised it.
[[nodiscard]] std::uint64_t starts_id(std::uint64_t communicator, std::uint32_t ordinal) noexcept;

/// A rank's arrival at a collective call, its start of a persistent one, or its kernel of a call of NCCL.
struct CollectiveArrival {
  std::uint64_t communicator;  ///< global id, starts_id() or a meeting of NCCL's (nccl_work.hpp)
  std::uint64_t came_ns;
  std::uint64_t left_ns;
  std::uint32_t ordinal;  ///< of the call on that communicator, or of the start
  std::int32_t expected;  ///< ranks of the communicator
  bool is_root;
  bool nobody_leaves_before;  ///< see Arrivals
};

/// A rank's call that has waited for a member of a window, or that lets other members go on.
struct WindowCall {
  std::uint64_t window;  ///< global id
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  std::uint64_t call_site;  ///< as in the rank's trace; likewise the next
  std::uint32_t function;
  std::int32_t peer;  ///< whom it has waited for; -1: it lets others go on
  WindowAct act;      ///< that it has waited for, or does
};

struct RankFacts {
  std::int32_t rank = -1;
  std::string host_name;
  Interval run;
  std::vector<HalfFacts> halves;         ///< as RankTrace::halves
  std::vector<HalfGroup> groups;         ///< sorted, see find_counterpart()
  std::vector<std::uint32_t> in_groups;  ///< halves by group; those that can meet none are left out
  std::vector<TransferFacts> transfers;  ///< as RankTrace::transfers; their classes in `classes` below
  std::vector<CollectiveArrival> arrivals;
  std::vector<WindowCall> window_calls;
  MessageClasses classes;              ///< of the transfers
  bool lacks_records = false;          ///< a half without its other side is nothing strange
  bool others_may_not_record = false;  ///< likewise where the other rank has no recording

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(rank, host_name, run, halves, groups, in_groups, transfers, arrivals, window_calls, classes,
            lacks_records, others_may_not_record);
  }
};

[[nodiscard]] RankFacts facts_of(const RankTrace& rank);

/// Returns nullopt for a call that neither has waited for a member of a window nor lets one go on, and where
/// it is not known for whom it has waited, or on which window it is.
[[nodiscard]] std::optional<WindowCall> window_call_of(const RankTrace& rank, const trace::MpiCall& call);

/// Returns the group of `facts` that meets `mine`, a group of `rank`; null if there is none.
[[nodiscard]] const HalfGroup* find_counterpart(const RankFacts& facts, std::int32_t rank,
                                                const HalfGroup& mine) noexcept;

}  // namespace penstock::analysis
