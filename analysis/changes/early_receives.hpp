// Tries the job with receives that are posted before the kernels behind which they were posted. Must not know
// other changes.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// A message whose receive is posted earlier moves earlier for its sender, too: a call that waits for nothing
/// but the send is shorter, by what the sender's own late receives do not hide already. Thread: one at a
/// time. Memory: 24 bytes a late receive, 40 a send that is waited for.
class EarlyReceives {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial) const;

 private:
  struct Hidden {
    NodeId end;  ///< of the call that completes the message
    std::uint64_t kernels_ns;
    std::uint64_t message;  ///< see MessageIndex::number_of()
  };
  struct Sent {
    NodeId end;                      ///< of the call that completes it
    std::uint64_t hidden_before_ns;  ///< of late receives on the same rank, since it was posted
  };
  void hide(NodeId end, std::uint64_t time_ns, const Trial& trial, Scenario& scenario) const;

  std::map<std::uint32_t, std::vector<Hidden>> sites_;  ///< by the site that posts
  std::unordered_map<std::uint64_t, Sent> sends_;       ///< by message
};

}  // namespace penstock::analysis
