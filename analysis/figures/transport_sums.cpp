#include "analysis/figures/transport_sums.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/joining/call_cursor.hpp"
#include "analysis/tables/median.hpp"

namespace penstock::analysis {
namespace {

/// Returns GB/s; of a small message, messages a nanosecond: it takes as long whatever its size.
float speed_of(const MessageClass& of, std::uint64_t bytes, std::uint64_t took_ns) {
  return static_cast<float>((is_small(of.size_limit_bytes) ? 1.0 : static_cast<double>(bytes)) /
                            static_cast<double>(took_ns));
}

}  // namespace

void TransportSums::count(std::uint32_t message_class, std::uint64_t bytes) {
  Sums& sums = sums_of(message_class);
  ++sums.messages;
  sums.bytes += bytes;
}

void TransportSums::add(const RankInput& rank) {
  add_transfers(rank.trace, rank.window.position, rank.window.window);
}

/// Adds the speeds of what Penstock moved, and counts what is part of another call: messages are counted by
/// their halves. A transfer's time counts from when both sides, including their GPUs, were ready: waiting
/// before that is another cause. If the rank was in one MPI call all the time, it saw the transfer's end at
/// once; otherwise perhaps only on its next MPI call.
void TransportSums::add_transfers(const RankTrace& rank, std::size_t position, Interval window) {
  CallCursor calls(rank);
  for (std::size_t i = 0; i < rank.transfers.size(); ++i) {
    const Transfer& transfer = rank.transfers[i];
    const trace::Transfer& each = transfer.record;
    const std::uint32_t message_class = index_.class_of(rank, position, i);
    if (!window.touches(each.end_ns) || message_class == MessageClasses::no_message) {
      continue;
    }
    const bool is_part = index_.classes().all()[message_class].is_part;
    if (!is_part && each.key == 0) {
      continue;  // a copy on one side tells nothing of the message's speed
    }
    if (is_part) {
      count(message_class, each.bytes);
    }
    Sums& sums = sums_of(message_class);
    sums.saved_bytes += each.bytes - std::min(each.bytes, wire_bytes_of(each));
    const std::uint64_t start_ns = each.begin_ns + each.wait_ns;
    if (each.bytes != 0 && start_ns < each.end_ns) {
      const bool is_seen_at_once = calls.are_in_one(transfer.lane, start_ns, each.end_ns);
      (is_seen_at_once ? sums.speeds : sums.least_speeds)
          .push_back(speed_of(index_.classes().all()[message_class], each.bytes, each.end_ns - start_ns));
    }
  }
}

void TransportSums::add(const HalfInput& input) {
  const trace::MessageHalf& half = input.half.record;
  const JoinedHalf& joined = input.joined;
  const bool is_received = half.direction == trace::Direction::receive;
  if (joined.own == nullptr || (!is_received && joined.partner != nullptr) ||
      !input.rank.window.window.touches(half.complete_ns)) {
    return;
  }
  count(joined.message_class, half.bytes);
  if (!is_received || joined.partner == nullptr || half.bytes == 0 || !joined.transfers.empty() ||
      !index_.clocks().can_convert(joined.partner_host, joined.host)) {
    return;
  }
  const std::uint64_t start_ns = std::max(
      index_.clocks().convert(joined.partner->post_ns, joined.partner_host, joined.host), half.post_ns);
  if (start_ns < half.complete_ns) {
    Sums& sums = sums_of(joined.message_class);
    (half.blocking != 0 ? sums.speeds : sums.least_speeds)
        .push_back(
            speed_of(index_.classes().all()[joined.message_class], half.bytes, half.complete_ns - start_ns));
  }
}

void TransportSums::add(const WaitInput& wait) {
  const std::uint32_t message_class = wait.span.counterpart.message_class;
  if (message_class != MessageClasses::no_message) {
    Sums& sums = sums_of(message_class);
    sums.by_cause[wait.cause()] += wait.counted_ns;
    sums.within_error[wait.cause()] += wait.within_error_ns;
  }
}

void TransportSums::merge(TransportSums&& part, const Renumbering& numbers) {
  sums_.resize(std::max(sums_.size(), part.sums_.size()));
  for (std::size_t i = 0; i < part.sums_.size(); ++i) {
    merge_into(sums_[i], std::move(part.sums_[i]), numbers);
  }
}

void TransportSums::finish(Report& report, SiteNames&) {
  std::vector<TransportFigures>& figures = report.transports;
  for (std::uint32_t i = 0; i < sums_.size(); ++i) {
    Sums& sums = sums_[i];
    const std::uint64_t counted_ns =
        std::accumulate(sums.by_cause.begin(), sums.by_cause.end(), std::uint64_t{0});
    if (sums.messages == 0 && counted_ns == 0) {
      continue;
    }
    const MessageClass& which = index_.classes().all()[i];
    TransportFigures each;
    each.source = which.source;
    each.destination = which.destination;
    each.size_limit_bytes = which.size_limit_bytes;
    each.transport = which.transport;
    each.reason = std::string(index_.classes().reason_of(i));
    each.messages = sums.messages;
    each.bytes = sums.bytes;
    each.is_part = which.is_part;
    each.wire_bytes = sums.bytes - std::min(sums.bytes, sums.saved_bytes);
    std::vector<float>& speeds = sums.speeds.empty() ? sums.least_speeds : sums.speeds;
    const double bytes_of_one = is_small(each.size_limit_bytes) ? mean_bytes(each) : 1;
    const auto gbps = [bytes_of_one](std::optional<double> speed) {
      return speed ? std::optional<double>(static_cast<float>(*speed * bytes_of_one)) : std::nullopt;
    };
    each.median_gbps = gbps(median_of(speeds));
    each.best_gbps = gbps(quantile_of(speeds, 0.95));
    each.message_class = i;
    each.counted_ns = counted_ns;
    each.by_cause = sums.by_cause;
    each.within_error = sums.within_error;
    figures.push_back(std::move(each));
  }
  // messages come first; transports with equal bytes are ordered, too, so that the result does not depend on
  // the order of the records
  const auto key = [](const TransportFigures& each) {
    return std::tie(each.source, each.destination, each.size_limit_bytes, each.transport, each.reason);
  };
  std::sort(figures.begin(), figures.end(), [&](const TransportFigures& left, const TransportFigures& right) {
    if (left.is_part != right.is_part) {
      return right.is_part;
    }
    return left.bytes != right.bytes ? left.bytes > right.bytes : key(left) < key(right);
  });
}

}  // namespace penstock::analysis
