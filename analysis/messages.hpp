// Joins what the ranks recorded separately: the two halves of each message, the transfer that moved it, and
// the arrivals at each collective call. Filled rank by rank, joined once, then asked. Knows no timelines.
//
// Memory: about 100 bytes a message and 72 a collective call and host, of the whole job; nothing else of a
// rank is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/clock_alignment.hpp"
#include "analysis/collective_index.hpp"
#include "analysis/message_class.hpp"
#include "analysis/rank_trace.hpp"

namespace penstock::analysis {

/// What the other side of a message needs to know of a half. Unit: ns of its host's clock.
struct HalfFacts {
  std::uint64_t post_ns = 0;
  std::uint64_t complete_ns = 0;
  std::uint64_t noticed_ns = 0;  ///< earliest time when the rank was in MPI and could serve the message
  std::uint64_t key = 0;
  std::int32_t rank = -1;
  std::uint32_t host = 0;  ///< ranks of one host share a clock
  trace::BufferKind buffer = trace::BufferKind::unknown;
  trace::Direction direction = trace::Direction::send;
  /// Where the MPI library's own transport carried it; until join(), of this half's buffer alone.
  std::uint32_t message_class = MessageClasses::no_message;
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

class MessageIndex {
 public:
  /// Ranks are added in any order, each once; positions (see partner_of) count from 0 in this order.
  void add(const RankTrace& rank);
  /// After the last add().
  void join();

  /// The other half of `rank.halves[half]`, `rank` being the `position`-th added; null if it is not there. (A
  /// rank that still runs may have recorded more since it was added; then the half is not recognised.)
  [[nodiscard]] const HalfFacts* partner_of(const RankTrace& rank, std::size_t position,
                                            std::size_t half) const noexcept;
  /// What is known of `rank.halves[half]` itself; null as above.
  [[nodiscard]] const HalfFacts* facts_of(const RankTrace& rank, std::size_t position,
                                          std::size_t half) const noexcept;
  /// A number that both halves of a message share and no other message has, from 1; 0 for a half alone.
  [[nodiscard]] std::uint64_t number_of(const RankTrace& rank, std::size_t position,
                                        std::size_t half) const noexcept;
  [[nodiscard]] std::span<const TransferFacts> transfers_of(std::uint64_t key) const noexcept;
  /// In the clock of the rank's host. None for what is no collective call, or one of a communicator that is
  /// not known.
  [[nodiscard]] std::optional<Arrivals> arrivals_at(const RankTrace& rank, const trace::MpiCall& call) const;
  [[nodiscard]] std::optional<Arrivals> arrivals_at(const RankTrace& rank,
                                                    const trace::CollectiveOperation& operation) const;
  [[nodiscard]] std::uint32_t host_of(const RankTrace& rank) const;

  /// Of a transfer that was recorded without a key, or is not in the index.
  [[nodiscard]] std::uint32_t class_of(const RankTrace& rank, const trace::Transfer& transfer) const;
  [[nodiscard]] const MessageClasses& classes() const noexcept { return classes_; }

  [[nodiscard]] std::size_t rank_count() const noexcept { return first_half_of_rank_.size(); }
  [[nodiscard]] std::size_t host_count() const noexcept { return hosts_.size(); }
  /// From its first rank's begin to its last rank's end, in its own clock.
  [[nodiscard]] Interval run_of(std::uint32_t host) const { return runs_.at(host); }
  /// Of the hosts, numbered as in the facts.
  [[nodiscard]] const ClockAlignment& clocks() const noexcept { return clocks_; }
  [[nodiscard]] std::uint64_t unmatched_halves() const noexcept { return unmatched_; }

 private:
  /// What halves without a key are matched by, in order of post time.
  struct Ordered {
    std::uint64_t communicator;
    std::int32_t source;
    std::int32_t destination;
    std::int32_t tag;
    std::uint32_t half;
  };
  void join_by_key();
  void join_by_order();
  void mark_transfers_of_messages();
  void classify_halves();
  void align_clocks();
  void pair_up(std::uint32_t send, std::uint32_t receive);

  mutable MessageClasses classes_;  ///< a table that grows as it is asked
  std::unordered_map<std::string, std::uint32_t> hosts_;
  std::vector<std::size_t> first_half_of_rank_;
  std::vector<HalfFacts> halves_;
  std::vector<std::uint32_t> partner_;  ///< of each half; its own index when there is none
  std::vector<Ordered> without_key_;
  std::vector<TransferFacts> transfers_;
  CollectiveIndex collectives_;
  std::vector<Interval> runs_;  ///< of each host, from its first rank's begin to its last rank's end
  ClockAlignment clocks_;
  std::uint64_t unmatched_ = 0;
};

}  // namespace penstock::analysis
