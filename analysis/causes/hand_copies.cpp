#include "analysis/causes/hand_copies.hpp"

#include <algorithm>
#include <unordered_map>

#include "analysis/joining/call_cursor.hpp"
#include "analysis/joining/hand_staged.hpp"

namespace penstock::analysis {
namespace {

/// How many messages a site has, and how many of them a copy.
struct OfSite {
  std::uint64_t messages = 0;
  std::uint64_t staged = 0;
};

}  // namespace

std::vector<HandCopy> find_hand_copies(const RankTrace& rank, Interval window, SiteTable& sites) {
  std::vector<HandCopy> found;
  std::unordered_map<std::uint32_t, OfSite> of_sites;
  const HandStagedHalves staged = hand_staged_halves(rank, window);
  if (staged.copies.empty()) {
    return found;
  }
  // a half does not record which function posted it; the call that contains the post does
  CallCursor cursor(rank);
  for (const HandStaged& each : staged.halves) {
    const Half& half = rank.halves[each.half];
    const std::uint32_t call = cursor.call_at(half.lane, half.record.post_ns);
    const std::uint32_t function =
        call == RankTrace::no_call ? trace::no_string : rank.calls[call].record.function;
    const std::uint32_t site = sites.id_of(rank, half.record.call_site, function);
    OfSite& of_site = of_sites[site];
    ++of_site.messages;
    if (each.copy != nullptr) {
      ++of_site.staged;
      found.push_back({*each.copy, half.record.bytes, site});
    }
  }
  std::erase_if(found, [&](const HandCopy& each) {
    const OfSite& of_site = of_sites[each.site];
    return of_site.staged < 2 || of_site.staged * 2 < of_site.messages;
  });
  return found;
}

}  // namespace penstock::analysis
