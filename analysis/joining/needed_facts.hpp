// What some ranks of a job need to know of all others: the halves that can meet theirs, the transfers that
// moved their messages, the arrivals at collectives of their communicators. So each member of a team keeps
// what its own share of the ranks needs, and joins that as all would be joined. Knows no team.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "analysis/joining/rank_facts.hpp"
#include "analysis/tables/id_table.hpp"

namespace penstock::analysis {

/// Whoever has a key of these ranks stays, whatever peer was recorded: one half may have been recorded wrong,
/// and the other be a stray. So of each such key all halves and transfers of the job are there.
/// Thread: one at a time. Memory: 8 bytes a half and a transfer with a key.
class NeededFacts {
 public:
  /// One of the ranks that need something. All are added before the first keep().
  void add(const RankFacts& rank);
  /// After the last add().
  void finish();
  /// Leaves in the facts of another rank what is needed. Places of halves and transfers change.
  void keep_in(RankFacts& other) const;

 private:
  struct Keys {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  [[nodiscard]] bool has_key(std::uint64_t key) const noexcept;
  [[nodiscard]] std::vector<std::uint32_t> places_of_kept(const RankFacts& other) const;

  IdTable<bool> ranks_;
  std::vector<std::uint64_t> keys_;  ///< of halves and transfers; sorted
  IdTable<Keys> keys_of_sender_;  ///< where those are that a sender gave away; most keys are of none of ours
  std::unordered_set<std::uint64_t> communicators_;  ///< see CollectiveArrival
};

}  // namespace penstock::analysis
