// Works out for whom each call in progress waits, from what all ranks have posted: an operation whose other
// side is there does not wait for it. Must not know how that is told.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/unfinished/rank_state.hpp"
#include "analysis/unfinished/wait_graph.hpp"

namespace penstock::analysis {

/// `ranks`: all ranks of the job, by rank. Both must outlive the object.
class Waiting {
 public:
  Waiting(const std::vector<RankState>& ranks, const Members& members) : ranks_(ranks), members_(members) {}

  /// Returns for whom a call of a rank waits. None: it can go on, or that is not known.
  [[nodiscard]] Need need_of(std::int32_t rank, const CallInProgress& call) const;
  [[nodiscard]] Need need_of(std::int32_t rank, const PendingOperation& operation) const;

 private:
  [[nodiscard]] Need need_of_collective(std::int32_t rank, const PendingOperation& operation) const;
  [[nodiscard]] Need need_of_receive(std::int32_t rank, const PendingOperation& receive) const;
  [[nodiscard]] Need need_of_send(std::int32_t rank, const PendingOperation& send) const;
  [[nodiscard]] bool has_come(std::int32_t rank, const PendingOperation& collective) const;
  /// Returns members that have not come to a collective; of very many only the first.
  [[nodiscard]] const std::vector<std::int32_t>& late_at(const PendingOperation& collective) const;
  /// Returns whether there is such a rank: what a header names may be damaged, or beyond those that are
  /// listed.
  [[nodiscard]] bool is_known(std::int32_t rank) const noexcept {
    return rank >= 0 && static_cast<std::size_t>(rank) < ranks_.size();
  }
  [[nodiscard]] const RankState* state_of(std::int32_t rank) const;
  [[nodiscard]] bool may_have_come(std::int32_t receiver, std::int32_t sender,
                                   const PendingOperation& receive) const;

  const std::vector<RankState>& ranks_;
  const Members& members_;
  /// By communicator and ordinal: many ranks ask for the same.
  mutable std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<std::int32_t>> late_;
};

}  // namespace penstock::analysis
