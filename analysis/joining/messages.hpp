// Joins what the ranks recorded separately: the two halves of each message, the transfer that moved it, the
// arrivals at each collective call, and who waited at a window for which call of whom. Filled rank by rank,
// joined once, then queried. Must not know timelines.
//
// Memory: about 110 bytes a message, 52 a transfer, 72 a collective call and host and 48 a call on a window
// that waits or is waited for; nothing else of a rank is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/joining/clock_alignment.hpp"
#include "analysis/joining/collective_index.hpp"
#include "analysis/joining/message_class.hpp"
#include "analysis/joining/nccl_work.hpp"
#include "analysis/joining/rank_facts.hpp"
#include "analysis/joining/window_index.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/sharing/team.hpp"
#include "analysis/tables/id_table.hpp"

namespace penstock::analysis {

/// A half and its owner.
struct KnownHalf : HalfFacts {
  std::int32_t rank = -1;
  std::uint32_t host = 0;  ///< ranks of one host share a clock
};

/// All that is joined to a half lies here: pointers into the index, which must outlive them.
struct JoinedHalf {
  const HalfFacts* own = nullptr;      ///< null: not recognised, see MessageIndex::partner_of()
  const HalfFacts* partner = nullptr;  ///< the other half; null: it is missing
  std::int32_t partner_rank = -1;
  std::uint32_t partner_host = 0;
  std::uint32_t host = 0;                    ///< of the half itself
  std::span<const TransferFacts> transfers;  ///< that moved the message, whichever side recorded them
  std::uint32_t message_class = MessageClasses::no_message;  ///< which both halves have
};

/// Thread: one at a time until join() returns, then any number.
class MessageIndex {
 public:
  MessageIndex() = default;
  /// Starts another index of the same job: classes that have a number in the table keep it.
  explicit MessageIndex(MessageClasses classes) : classes_(std::move(classes)) {}
  /// Adds a rank; any order, each rank once. Positions (see partner_of) count from 0 in this order.
  void add(RankFacts facts);
  void add(const RankTrace& rank) { add(analysis::facts_of(rank)); }
  /// Joins the ranks; call it after the last add(). `team`: each member has added all ranks in the same
  /// order: those of its own share completely, of others what these need (NeededFacts), and can query its own
  /// ranks only. null: all ranks are here.
  void join(unsigned threads = 1, Team* team = nullptr);

  /// Returns the other half of `rank.halves[half]`; `rank` is the `position`-th added rank. Returns nullopt
  /// if it is missing. (A rank that still runs may have recorded more since it was added; such a half is not
  /// recognised.)
  [[nodiscard]] std::optional<KnownHalf> partner_of(const RankTrace& rank, std::size_t position,
                                                    std::size_t half) const noexcept;
  /// Returns all that is known of `rank.halves[half]`.
  [[nodiscard]] JoinedHalf joined(const RankTrace& rank, std::size_t position,
                                  std::size_t half) const noexcept;
  /// Returns a number, from 1 on, that both halves of a message share and no other message has; 0 for a half
  /// without a partner. Requires all ranks to be here.
  [[nodiscard]] std::uint64_t number_of(const RankTrace& rank, std::size_t position,
                                        std::size_t half) const noexcept;
  /// Returns the transfers that moved the message of `rank.halves[half]`, whichever side recorded them.
  [[nodiscard]] std::span<const TransferFacts> transfers_of(const RankTrace& rank, std::size_t position,
                                                            std::size_t half) const noexcept;
  [[nodiscard]] std::span<const TransferFacts> transfers_of(std::uint64_t key) const noexcept;
  /// Returns arrivals in the clock of the rank's host; nullopt if the call is not collective or its
  /// communicator is unknown.
  [[nodiscard]] std::optional<Arrivals> arrivals_at(const RankTrace& rank, const trace::MpiCall& call) const;
  [[nodiscard]] std::optional<Arrivals> arrivals_at(const RankTrace& rank,
                                                    const trace::CollectiveOperation& operation) const;
  /// Returns the arrivals at a call of NCCL; nullopt if it is not known which ranks take part, or not all of
  /// them recorded it.
  [[nodiscard]] std::optional<Arrivals> arrivals_at(const RankTrace& rank, const NcclCallFacts& call) const;
  /// Returns the call of its peer for which a call has waited at a window, in the clock of the rank's host;
  /// nullopt if it has waited for none, or that is not recorded.
  [[nodiscard]] std::optional<WindowRelease> release_of(const RankTrace& rank,
                                                        const trace::MpiCall& call) const;
  /// Returns the rank's calls for which others have waited at a window, one for each that has.
  [[nodiscard]] std::span<const AwaitedRelease> awaited_releases(const RankTrace& rank) const {
    return windows_.awaited_releases(rank.header.world_rank);
  }
  [[nodiscard]] std::uint32_t host_of(const RankTrace& rank) const;

  /// Returns the class of `rank.transfers[transfer]`: that of the message that it is part of, if it is a
  /// staging copy; no_message if it was recorded later.
  [[nodiscard]] std::uint32_t class_of(const RankTrace& rank, std::size_t position,
                                       std::size_t transfer) const noexcept;
  /// Returns the class of a half's message, which both of its halves have.
  [[nodiscard]] std::uint32_t class_of_message(const RankTrace& rank, std::size_t position,
                                               std::size_t half) const noexcept;
  [[nodiscard]] const MessageClasses& classes() const noexcept { return classes_; }
  /// Moves the classes out, for an index that replaces this one.
  [[nodiscard]] MessageClasses take_classes() { return std::move(classes_); }

  [[nodiscard]] std::size_t rank_count() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t host_count() const noexcept { return hosts_.size(); }
  /// Returns the time from the host's first begin to its last end of a rank, in the host's clock.
  [[nodiscard]] Interval run_of(std::uint32_t host) const { return runs_.at(host); }
  /// Returns the alignment of the hosts, numbered as in the facts.
  [[nodiscard]] const ClockAlignment& clocks() const noexcept { return clocks_; }
  [[nodiscard]] std::uint64_t unmatched_halves() const noexcept { return unmatched_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Partner {
    std::uint32_t position = none;
    std::uint32_t half = none;
  };
  struct Rank {
    std::int32_t number = -1;
    std::uint32_t host = 0;
    std::uint64_t halves_before = 0;  ///< of the ranks that were added earlier
    RankFacts facts;
    std::vector<Partner> partners;               ///< of each half
    std::vector<std::uint32_t> first_transfers;  ///< of each half, in transfers_; none
    std::vector<std::uint32_t> transfer_classes;
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        copies;  ///< transfers, and the halves they are parts of
  };

  void gather_transfers(unsigned threads);
  [[nodiscard]] std::size_t bucket_of(std::uint64_t key) const noexcept;
  [[nodiscard]] std::uint32_t find_transfer(std::uint64_t key, std::uint32_t guess) const noexcept;
  void find_partners(std::uint32_t position);
  void find_first_transfers(std::uint32_t position);
  void join_strays();
  void classify_halves(unsigned threads, Team* team);
  [[nodiscard]] std::uint64_t excused_halves(const Rank& rank) const noexcept;
  void align_clocks(Team* team);
  void forget_others(Team* team);
  [[nodiscard]] const HalfFacts& at(Partner half) const noexcept {
    return ranks_[half.position].facts.halves[half.half];
  }
  [[nodiscard]] KnownHalf known(Partner half) const noexcept {
    const Rank& rank = ranks_[half.position];
    return {rank.facts.halves[half.half], rank.number, rank.host};
  }
  [[nodiscard]] bool is_recognised(const RankTrace& rank, std::size_t position,
                                   std::size_t half) const noexcept;

  MessageClasses classes_;
  std::vector<std::uint32_t> part_of_class_;  ///< the class of the same movements as parts of another call
  std::unordered_map<std::string, std::uint32_t> hosts_;
  std::vector<Rank> ranks_;                  ///< by position
  IdTable<std::uint32_t> position_of_rank_;  ///< by its number
  std::vector<TransferFacts> transfers_;     ///< those with keys, by key, then by time
  std::vector<std::size_t> buckets_;         ///< by sender: where its keys begin in transfers_
  CollectiveIndex collectives_;
  WindowIndex windows_;
  std::vector<Interval> runs_;  ///< of each host, from its first rank's begin to its last rank's end
  ClockAlignment clocks_;
  std::uint64_t unmatched_ = 0;
};

}  // namespace penstock::analysis
