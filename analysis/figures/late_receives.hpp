// Finds receives that were posted after a kernel although their message had been posted before it: if posted
// earlier, the message would have moved while the kernel ran. Must not know how call sites are named.
#pragma once

#include <cstdint>
#include <tuple>

#include "analysis/figures/figure.hpp"
#include "analysis/figures/kernel_times.hpp"

namespace penstock::analysis {

/// Receives count for the call site that posts them. Thread: one at a time. Memory: proportional to these
/// sites and to kernels.
class LateReceives {
 public:
  explicit LateReceives(const FigureContext& context)
      : index_(context.index), strings_(context.strings), sites_(context.sites) {}
  /// The receive that completes last in the call stands for all: the others do not lengthen the call.
  void add(const CallInput& call);
  auto members() { return std::tie(sums_); }
  /// Orders the figures by what would be hidden, largest first.
  void finish(Report& report, SiteNames& names);

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t ready_ns = 0;
    std::uint64_t hides_ns = 0;
    KernelTimes kernels;
    auto members() { return std::tie(messages, ready_ns, hides_ns, kernels); }
  };
  const MessageIndex& index_;
  const StringPool& strings_;
  SiteTable& sites_;
  SumsBySite<Sums> sums_;
};

}  // namespace penstock::analysis
