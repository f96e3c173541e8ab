#include "analysis/figures/late_receives.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/causes/late_receive.hpp"

namespace penstock::analysis {

void LateReceives::add(const CallInput& input) {
  if (input.moving_ns == 0) {
    return;
  }
  const RankTrace& rank = input.rank.trace;
  const RankWindow& window = input.rank.window;
  const std::optional<LateReceive> late =
      late_receive_in(rank, window.position, window.timeline, *window.finder, index_, input.number);
  if (!late) {
    return;
  }
  const trace::MpiCall& posting = rank.calls[late->posting_call].record;
  Sums& sums = sums_[{sites_.id_of(rank, posting.call_site, posting.function)}];
  ++sums.messages;
  sums.ready_ns += late->posted_ns - late->sent_ns;
  sums.hides_ns += std::min(input.moving_ns, late->kernels_ns);
  sums.kernels.add(window.timeline, input.rank.names, {late->sent_ns, late->posted_ns});
}

void LateReceives::finish(Report& report, SiteNames& names) {
  std::vector<LateReceiveFigures>& figures = report.late_receives;
  for (const auto& [key, sums] : sums_) {
    figures.push_back({names.call_of(key.site), sums.messages, sums.ready_ns, sums.hides_ns,
                       sums.kernels.longest(strings_)});
  }
  std::sort(figures.begin(), figures.end(),
            [](const LateReceiveFigures& left, const LateReceiveFigures& right) {
              return std::tie(right.hides_ns, left.at) < std::tie(left.hides_ns, right.at);
            });
}

}  // namespace penstock::analysis
