// Tries the job without the copies that are made by hand around messages. Must not know other changes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// What a device message would take is not known. It crosses the link between the GPUs once, as each copy
/// crosses one: so it is taken to be as long as the longer copy. The spread goes from no time for it to that
/// of the host's message. Sites whose messages complete together are
/// changed together. Thread: one at a time. Memory: 30 bytes a
/// copy.
class HandStagedMessages {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial);

 private:
  struct Moved {
    NodeId end;                ///< of the call that completes them
    std::uint64_t longest_ns;  ///< of their copies
  };
  struct OfSite {
    std::map<std::size_t, std::vector<Interval>>
        copies;  ///< by position; in the clock of the first rank's host
    std::vector<Moved> moved;
  };
  void propose_for(std::uint32_t group, const Trial& trial);

  std::map<std::uint32_t, OfSite> sites_;  ///< by the site that posts
  SiteGroups groups_;
};

}  // namespace penstock::analysis
