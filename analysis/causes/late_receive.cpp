#include "analysis/causes/late_receive.hpp"

#include <span>

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

std::optional<LateReceive> late_receive_in(const RankTrace& rank, std::size_t position,
                                           const Timeline& timeline, const CauseFinder& finder,
                                           const MessageIndex& index, std::uint32_t call) {
  const std::uint32_t last = last_receive(rank, finder.halves_of(call));
  if (last == RankTrace::no_call) {
    return std::nullopt;
  }
  const Half& half = rank.halves[last];
  const JoinedHalf joined = index.joined(rank, position, last);
  if (joined.partner == nullptr || !index.clocks().can_convert(joined.partner_host, joined.host)) {
    return std::nullopt;
  }
  const std::uint64_t sent_ns =
      index.clocks().convert(joined.partner->post_ns, joined.partner_host, joined.host) +
      index.clocks().error_ns(joined.partner_host, joined.host);
  const std::uint64_t posted_ns = half.record.post_ns;
  const std::uint64_t kernels_ns =
      sent_ns < posted_ns ? timeline.kernels.measure_within_ns(sent_ns, posted_ns) : 0;
  const std::uint32_t posting_call =
      kernels_ns == 0 ? RankTrace::no_call : rank.call_at(half.lane, posted_ns);
  if (posting_call == RankTrace::no_call) {
    return std::nullopt;
  }
  return LateReceive{last, sent_ns, posted_ns, kernels_ns, posting_call};
}

}  // namespace penstock::analysis
