#include "analysis/figures/late_receives.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {

void LateReceives::add(const RankWindow& window, NameIds& names, std::span<const std::uint32_t> halves,
                       std::uint64_t moving_ns, const SiteOf& site_of) {
  if (moving_ns == 0) {
    return;
  }
  const RankTrace& rank = window.rank;
  const Timeline& timeline = window.timeline;
  std::uint32_t last = RankTrace::no_call;
  for (const std::uint32_t half : halves) {
    const trace::MessageHalf& record = rank.halves[half].record;
    if (record.direction == trace::Direction::receive &&
        (last == RankTrace::no_call || record.complete_ns > rank.halves[last].record.complete_ns)) {
      last = half;
    }
  }
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
      sent_ns < posted_ns ? timeline.kernels.measure_within_ns(sent_ns, posted_ns) : 0;
  if (kernels_ns == 0) {
    return;
  }
  const std::uint32_t call = rank.call_at(half.lane, posted_ns);
  if (call == RankTrace::no_call) {
    return;
  }
  const trace::MpiCall& posting = rank.calls[call].record;
  Sums& sums = sums_[site_of(posting.call_site, posting.function)];
  ++sums.messages;
  sums.ready_ns += posted_ns - sent_ns;
  sums.hides_ns += std::min(moving_ns, kernels_ns);
  auto kernel = std::upper_bound(
      timeline.kernel_segments.begin(), timeline.kernel_segments.end(), sent_ns,
      [](std::uint64_t time_ns, const KernelSegment& each) { return time_ns < each.end_ns; });
  for (; kernel != timeline.kernel_segments.end() && kernel->begin_ns < posted_ns; ++kernel) {
    sums.by_kernel[names.id_of(kernel->name)] +=
        std::min(kernel->end_ns, posted_ns) - std::max(kernel->begin_ns, sent_ns);
  }
}

void LateReceives::merge(const LateReceives& part, std::span<const std::uint32_t> strings,
                         std::span<const std::uint32_t> sites) {
  for (const auto& [site, added] : part.sums_) {
    Sums& sums = sums_[sites[site]];
    sums.messages += added.messages;
    sums.ready_ns += added.ready_ns;
    sums.hides_ns += added.hides_ns;
    for (const auto& [kernel, time_ns] : added.by_kernel) {
      sums.by_kernel[strings[kernel]] += time_ns;
    }
  }
}

std::vector<LateReceiveFigures> LateReceives::finish(
    const std::function<std::string(std::uint32_t)>& call_of_site) const {
  std::vector<LateReceiveFigures> figures;
  for (const auto& [site, sums] : sums_) {
    LateReceiveFigures each{call_of_site(site), sums.messages, sums.ready_ns, sums.hides_ns, ""};
    std::uint64_t most_ns = 0;
    for (const auto& [name, time_ns] : sums.by_kernel) {
      std::string kernel = readable_symbol(strings_.at(name));
      if (time_ns > most_ns || (time_ns == most_ns && kernel < each.kernel)) {
        most_ns = time_ns;
        each.kernel = std::move(kernel);
      }
    }
    figures.push_back(std::move(each));
  }
  std::sort(figures.begin(), figures.end(),
            [](const LateReceiveFigures& left, const LateReceiveFigures& right) {
              return std::tie(right.hides_ns, left.at) < std::tie(left.hides_ns, right.at);
            });
  return figures;
}

}  // namespace penstock::analysis
