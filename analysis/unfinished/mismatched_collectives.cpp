#include "analysis/unfinished/mismatched_collectives.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace penstock::analysis {
namespace {

/// Returns which rank called what as the communicator's collective of that ordinal.
MismatchedCollective collective_at(const std::vector<RankState>& ranks, std::uint64_t communicator,
                                   std::uint32_t ordinal) {
  MismatchedCollective found{ordinal, {}};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto history = ranks[rank].collectives.find(communicator);
    if (history == ranks[rank].collectives.end()) {
      continue;
    }
    for (const CollectiveComing& arrival : history->second.last) {
      if (arrival.ordinal != ordinal) {
        continue;
      }
      auto group = std::find_if(found.groups.begin(), found.groups.end(),
                                [&](const auto& each) { return each.function == arrival.function; });
      if (group == found.groups.end()) {
        group = found.groups.insert(group, {arrival.function, arrival.site, {}});
      }
      group->ranks.push_back(static_cast<std::int32_t>(rank));
    }
  }
  std::stable_sort(found.groups.begin(), found.groups.end(), [](const auto& left, const auto& right) {
    return left.ranks.size() > right.ranks.size();
  });
  return found;
}

}  // namespace

std::vector<MismatchedCollective> find_mismatched_collectives(const std::vector<RankState>& ranks) {
  std::map<std::uint64_t, std::set<std::uint32_t>> in_progress;  // ordinals by communicator
  for (const RankState& rank : ranks) {
    for (const CallInProgress& call : rank.calls) {
      for (const PendingOperation& each : call.operations) {
        if (each.kind == PendingOperation::Kind::collective && each.communicator != 0) {
          in_progress[each.communicator].insert(each.ordinal);
        }
      }
    }
  }
  std::vector<MismatchedCollective> found;
  for (const auto& [communicator, ordinals] : in_progress) {
    for (const std::uint32_t ordinal : ordinals) {
      MismatchedCollective collective = collective_at(ranks, communicator, ordinal);
      if (collective.groups.size() > 1) {
        found.push_back(std::move(collective));
        break;
      }
    }
  }
  return found;
}

}  // namespace penstock::analysis
