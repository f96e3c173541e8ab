// All changes of a program that are tried with the replay, each alone: a new one is its file and its line
// here. Must not know what they are.
#pragma once

#include <tuple>
#include <utility>

#include "analysis/changes/early_receives.hpp"
#include "analysis/changes/hand_staged_messages.hpp"
#include "analysis/changes/host_gaps.hpp"
#include "analysis/changes/kernel_balance.hpp"
#include "analysis/changes/overlap.hpp"
#include "analysis/changes/reductions.hpp"
#include "analysis/changes/row_changes.hpp"

namespace penstock::analysis {

class Changes {
 public:
  void add(const GraphRank& rank) {
    std::apply([&](auto&... each) { (each.add(rank), ...); }, changes_);
  }
  void propose(const Trial& trial, std::size_t sites) {
    std::apply([&](auto&... each) { (each.propose(trial), ...); }, changes_);
    propose_by_rows(trial, sites);
  }

 private:
  std::tuple<Overlap, HostGaps, KernelBalance, HandStagedMessages, EarlyReceives, Reductions> changes_;
};

}  // namespace penstock::analysis
