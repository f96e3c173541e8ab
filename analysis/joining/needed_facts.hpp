// Selects what some ranks of a job need of all others: the halves that can meet theirs, the transfers of
// their messages, the arrivals at collectives of their communicators, the calls on windows that waited for
// them or that they waited for. Each member of a team keeps what its
// share of the ranks needs and joins it as if all ranks were there. Must not know the team.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/joining/rank_facts.hpp"
#include "analysis/tables/id_table.hpp"

namespace penstock::analysis {

/// Halves and transfers with a key of these ranks stay, whatever peer was recorded: one half may have been
/// recorded wrong, and the other be a stray. So all halves and transfers of the job with such a key are
/// present. Thread: one at a time. Memory: 8 bytes per half and per transfer with a key.
class NeededFacts {
 public:
  /// Adds one of the ranks that need something. All are added before the first keep_in().
  void add(const RankFacts& rank);
  /// Sorts the keys; call it after the last add().
  void finish();
  /// Removes from another rank's facts what is not needed. Places of halves and transfers change.
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
  IdTable<Keys> keys_of_sender_;  ///< the range of each sender's keys in keys_; most senders have no key that
                                  ///< our ranks need
  std::unordered_set<std::uint64_t> communicators_;           ///< see CollectiveArrival
  std::set<std::pair<std::uint64_t, std::int32_t>> awaited_;  ///< windows, and the members waited for there
};

}  // namespace penstock::analysis
