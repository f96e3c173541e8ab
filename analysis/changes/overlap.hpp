// Finds kernels that could run beside an exchange of messages, and tries it. Recordings do not tell which
// data a kernel uses; the rule below is cautious. Must not know other changes.
//
// An exchange is a rank's calls for messages, one after the other, with no kernel between them or with
// operations in flight. Kernels behind it, up to the next exchange or collective, could run beside it: those
// that need none of its data. The first one is taken to unpack what came, and the last one before another
// exchange to pack what goes; these stay. A kernel that is more than twice as long as all that stay does more
// than packing, and only its border can need the data: the part without it could run beside. If there is none
// behind the exchange, those before it are asked likewise. What a collective makes of all ranks' data is
// needed by what follows: kernels are never moved beside a collective.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: 32 bytes a call or kernel at most.
class Overlap {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial);

 private:
  struct Kernel {
    NodeId node;
    std::uint32_t name;
  };
  /// An exchange or a collective, or a rank's begin; and the kernels from its end to the next one's begin.
  struct Episode {
    NodeId begin = ReplayGraph::none;
    NodeId end = ReplayGraph::none;
    std::uint32_t site = ReplayGraph::no_site;  ///< any of its sites; no_site: it is no exchange
    std::uint32_t first_kernel = 0;             ///< in kernels_
    std::uint32_t kernels = 0;
  };
  struct SiteTime {
    std::uint64_t calls_ns = 0;
    std::uint64_t times = 0;
  };
  struct OfKernel {
    std::uint64_t total_ns = 0;
    std::uint64_t times = 0;
    std::uint64_t packs = 0;  ///< of these, in a place where it packs or unpacks
    [[nodiscard]] bool stays() const noexcept { return packs * 2 >= times; }
    [[nodiscard]] std::uint64_t mean_ns() const noexcept { return times == 0 ? 0 : total_ns / times; }
  };
  using ByName = std::map<std::uint32_t, OfKernel>;
  struct Movable {
    std::vector<std::uint32_t> names;  ///< the longest first
    bool is_part = false;              ///< of the first one
  };
  void propose_for(std::uint32_t group, const std::vector<std::uint32_t>& episodes, const Trial& trial);
  void count(const ReplayGraph& graph, std::uint32_t behind, ByName& kernels) const;
  /// `other_side`: the kernels on the other side of the exchange.
  [[nodiscard]] static Movable choose(const ByName& kernels, const ByName& other_side);
  [[nodiscard]] bool is_exchange(std::uint32_t episode) const {
    return episode < episodes_.size() && episodes_[episode].site != ReplayGraph::no_site;
  }

  std::vector<Episode> episodes_;  ///< of all ranks; each rank's begin with one that is no exchange
  std::vector<Kernel> kernels_;
  SiteGroups groups_;
  std::map<std::uint32_t, SiteTime> sites_;  ///< of exchanges
};

}  // namespace penstock::analysis
