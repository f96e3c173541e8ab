#include "analysis/figures/late_receives.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace penstock::analysis {
namespace {

/// Returns the receive among some halves that completes last; no_call if there is none.
std::uint32_t last_receive(const RankTrace& rank, std::span<const std::uint32_t> halves) {
  std::uint32_t last = RankTrace::no_call;
  for (const std::uint32_t half : halves) {
    const trace::MessageHalf& record = rank.halves[half].record;
    if (record.direction == trace::Direction::receive &&
        (last == RankTrace::no_call || record.complete_ns > rank.halves[last].record.complete_ns)) {
      last = half;
    }
  }
  return last;
}

}  // namespace

void LateReceives::add(const CallInput& input) {
  if (input.moving_ns == 0) {
    return;
  }
  const RankTrace& rank = input.rank.trace;
  const RankWindow& window = input.rank.window;
  const std::uint32_t last = last_receive(rank, window.finder->halves_of(input.number));
  if (last == RankTrace::no_call) {
    return;
  }
  const Half& half = rank.halves[last];
  const std::uint32_t host = index_.host_of(rank);
  const std::optional<KnownHalf> sender = index_.partner_of(rank, window.position, last);
  if (!sender || !index_.clocks().can_convert(sender->host, host)) {
    return;
  }
  const std::uint64_t sent_ns = index_.clocks().convert(sender->post_ns, sender->host, host) +
                                index_.clocks().error_ns(sender->host, host);
  const std::uint64_t posted_ns = half.record.post_ns;
  const std::uint64_t kernels_ns =
      sent_ns < posted_ns ? window.timeline.kernels.measure_within_ns(sent_ns, posted_ns) : 0;
  if (kernels_ns == 0) {
    return;
  }
  const std::uint32_t call = rank.call_at(half.lane, posted_ns);
  if (call == RankTrace::no_call) {
    return;
  }
  const trace::MpiCall& posting = rank.calls[call].record;
  Sums& sums = sums_[{sites_.id_of(rank, posting.call_site, posting.function)}];
  ++sums.messages;
  sums.ready_ns += posted_ns - sent_ns;
  sums.hides_ns += std::min(input.moving_ns, kernels_ns);
  sums.kernels.add(window.timeline, input.rank.names, {sent_ns, posted_ns});
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
