#include "analysis/figures/message_matrix.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace penstock::analysis {
namespace {

bool is_same_pair(const auto& left, const auto& right) {
  return left.sender == right.sender && left.receiver == right.receiver;
}

/// Sorts by bytes, largest first. Equal pairs are ordered, too, so that the result does not depend on the
/// order of ranks.
bool has_more_bytes(const auto& left, const auto& right) {
  return std::tie(right.sums.bytes, left.sender, left.receiver) <
         std::tie(left.sums.bytes, right.sender, right.receiver);
}

}  // namespace

MessageMatrix::Share& MessageMatrix::Sums::of_class(std::uint32_t message_class) {
  for (Share& each : shares) {
    if (each.message_class == message_class) {
      return each;
    }
  }
  shares.push_back({message_class, 0, {}, {}});
  return shares.back();
}

void MessageMatrix::Sums::add(const Sums& other) {
  messages += other.messages;
  bytes += other.bytes;
  for (const Share& each : other.shares) {
    Share& own = of_class(each.message_class);
    own.bytes += each.bytes;
    own.timed.bytes += each.timed.bytes;
    own.timed.ns += each.timed.ns;
    own.late_timed.bytes += each.late_timed.bytes;
    own.late_timed.ns += each.late_timed.ns;
  }
}

void MessageMatrix::add(const HalfInput& input) {
  const RankInput& rank = input.rank;
  const trace::MessageHalf& half = input.half.record;
  const bool is_received = half.direction == trace::Direction::receive;
  // the receiver's half stands for the message; if it is missing, the sender's does
  if (half.peer < 0 || half.peer >= rank.trace.header.world_size || input.joined.own == nullptr ||
      (!is_received && input.joined.partner != nullptr) || !rank.window.window.touches(half.complete_ns)) {
    return;
  }
  const Peer peer{is_received, half.peer};
  if (last_ == nullptr || last_->first != peer) {
    last_ = &*by_peer_.try_emplace(peer).first;
  }
  Sums& sums = last_->second;
  ++sums.messages;
  sums.bytes += half.bytes;
  if (is_received) {
    add_receive(input, sums);
  } else {
    sums.of_class(input.joined.message_class).bytes += half.bytes;
  }
}

void MessageMatrix::add(const RankInput& rank) {
  const std::int32_t self = rank.trace.header.world_rank;
  std::vector<Pair> pairs;
  for (auto& [peer, sums] : by_peer_) {
    pairs.push_back(peer.is_received ? Pair{peer.other, self, std::move(sums)}
                                     : Pair{self, peer.other, std::move(sums)});
  }
  by_peer_.clear();
  last_ = nullptr;
  world_size_ = rank.trace.header.world_size;
  take(std::move(pairs), world_size_);
}

void MessageMatrix::merge(MessageMatrix&& part, const Renumbering&) {
  world_size_ = std::max(world_size_, part.world_size_);  // 0 in a part without ranks
  for (std::vector<Pair>& of_rank : part.pairs_of_ranks_) {
    take(std::move(of_rank), part.world_size_);
  }
}

void MessageMatrix::take(std::vector<Pair> pairs, std::int32_t world_size) {
  if (use_ == FigureContext::Use::part) {
    pairs_of_ranks_.push_back(std::move(pairs));
    return;
  }
  if (ranks_ == 0) {
    ranks_ = std::max(1, world_size);
    ranks_per_block_ = (ranks_ - 1) / most_matrix_blocks + 1;
  }
  for (Pair& each : pairs) {
    keep(std::move(each));
  }
  if (pairs_.size() > 2 * most_pairs_) {
    drop_smallest();
  }
}

/// Adds a receive. A message moves from when both sides, including their GPUs, were ready. If its transfers
/// are known, it moves from the first one's start to the last one's end, whichever side recorded them.
void MessageMatrix::add_receive(const HalfInput& input, Sums& sums) const {
  const trace::MessageHalf& record = input.half.record;
  const JoinedHalf& joined = input.joined;
  const ClockAlignment& clocks = index_.clocks();
  Share& share = sums.of_class(joined.message_class);
  share.bytes += record.bytes;
  std::uint64_t start_ns = ~std::uint64_t{0};
  std::uint64_t end_ns = 0;
  for (const TransferFacts& each : joined.transfers) {
    if (clocks.can_convert(each.host, joined.host)) {
      start_ns = std::min(start_ns, clocks.convert(each.begin_ns + each.wait_ns, each.host, joined.host));
      end_ns = std::max(end_ns, clocks.convert(each.end_ns, each.host, joined.host));
    }
  }
  if (joined.transfers.empty() && joined.partner != nullptr &&
      clocks.can_convert(joined.partner_host, joined.host)) {
    start_ns =
        std::max(clocks.convert(joined.partner->post_ns, joined.partner_host, joined.host), record.post_ns);
    end_ns = record.complete_ns;
  }
  if (record.bytes == 0 || start_ns >= end_ns) {
    return;
  }
  const bool is_seen_at_once = joined.transfers.empty()
                                   ? record.blocking != 0
                                   : input.calls.are_in_one(input.half.lane, start_ns, end_ns);
  Moved& moved = is_seen_at_once ? share.timed : share.late_timed;
  moved.bytes += record.bytes;
  moved.ns += end_ns - start_ns;
}

void MessageMatrix::keep(Pair pair) {
  if (ranks_per_block_ > 1) {
    const std::int32_t sender = pair.sender / ranks_per_block_;
    const std::int32_t receiver = pair.receiver / ranks_per_block_;
    const std::uint64_t key =
        static_cast<std::uint64_t>(sender) * most_matrix_blocks + static_cast<std::uint64_t>(receiver);
    blocks_.try_emplace(key, Pair{sender, receiver, {}}).first->second.sums.add(pair.sums);
  }
  pairs_.push_back(std::move(pair));
}

/// Joins pairs that occur twice because halves were lost: once from the receiver, once from the sender.
void MessageMatrix::join_equal_pairs() {
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& left, const Pair& right) {
    return std::tie(left.sender, left.receiver) < std::tie(right.sender, right.receiver);
  });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < pairs_.size(); ++i) {
    if (is_same_pair(pairs_[kept], pairs_[i])) {
      pairs_[kept].sums.add(pairs_[i].sums);
    } else if (++kept != i) {
      pairs_[kept] = std::move(pairs_[i]);
    }
  }
  pairs_.resize(std::min(pairs_.size(), kept + 1));
}

void MessageMatrix::drop_smallest() {
  join_equal_pairs();
  std::sort(pairs_.begin(), pairs_.end(), has_more_bytes<Pair, Pair>);
  if (ranks_per_block_ > 1 && pairs_.size() > most_pairs_) {
    dropped_pairs_ += pairs_.size() - most_pairs_;
    pairs_.resize(most_pairs_);
  }
}

/// Returns the speed that the fastest twentieth of the messages reached between such buffers, at such size,
/// by any transport; 0 if no speed is known. Lists of integers that travelled as bitmaps are compared only
/// with each other.
std::vector<double> MessageMatrix::possible_by_class(std::span<const TransportFigures> transports) const {
  using Kind = std::tuple<trace::BufferKind, trace::BufferKind, std::uint64_t, bool>;
  std::map<Kind, double> by_kind;
  const std::vector<MessageClass>& classes = index_.classes().all();
  std::vector<bool> is_packed(classes.size());
  for (const TransportFigures& each : transports) {
    is_packed[each.message_class] = each.went_packed();
    double& best =
        by_kind[{each.source, each.destination, each.size_limit_bytes, is_packed[each.message_class]}];
    best = std::max({best, each.best_gbps.value_or(0), each.median_gbps.value_or(0)});
  }
  std::vector<double> possible;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const MessageClass& each = classes[i];
    const auto found = by_kind.find({each.source, each.destination, each.size_limit_bytes, is_packed[i]});
    possible.push_back(found == by_kind.end() ? 0 : found->second);
  }
  return possible;
}

MatrixCell MessageMatrix::cell_of(const Pair& pair, std::span<const double> possible_gbps) const {
  MatrixCell cell;
  cell.sender = pair.sender;
  cell.receiver = pair.receiver;
  cell.messages = pair.sums.messages;
  cell.bytes = pair.sums.bytes;
  Moved at_once;
  Moved all;
  double at_once_possible_ns = 0;
  double all_possible_ns = 0;
  std::array<std::uint64_t, 256> by_transport{};
  for (const Share& each : pair.sums.shares) {
    const double possible = possible_gbps[each.message_class];
    const auto least_ns = [&](std::uint64_t bytes) {
      return possible == 0 ? 0.0 : static_cast<double>(bytes) / possible;
    };
    at_once.bytes += each.timed.bytes;
    at_once.ns += each.timed.ns;
    at_once_possible_ns += least_ns(each.timed.bytes);
    all.bytes += each.timed.bytes + each.late_timed.bytes;
    all.ns += each.timed.ns + each.late_timed.ns;
    all_possible_ns += least_ns(each.timed.bytes + each.late_timed.bytes);
    // messages without bytes still count for their transport
    by_transport[static_cast<std::size_t>(index_.classes().all()[each.message_class].transport)] +=
        each.bytes + 1;
  }
  cell.moving_ns = all.ns;
  cell.transport = static_cast<trace::TransportKind>(
      std::max_element(by_transport.begin(), by_transport.end()) - by_transport.begin());
  const Moved& told = at_once.bytes != 0 ? at_once : all;
  const double possible_ns = at_once.bytes != 0 ? at_once_possible_ns : all_possible_ns;
  if (told.bytes != 0) {
    cell.gbps = static_cast<double>(told.bytes) / static_cast<double>(told.ns);
    if (possible_ns > 0) {
      cell.possible_gbps = static_cast<double>(told.bytes) / possible_ns;
    }
  }
  return cell;
}

void MessageMatrix::finish(Report& report, SiteNames&) {
  report.matrix = figures(report.transports);
}

std::optional<MatrixFigures> MessageMatrix::figures(std::span<const TransportFigures> transports) {
  if (pairs_.empty()) {
    return std::nullopt;
  }
  drop_smallest();
  const std::vector<double> possible_gbps = possible_by_class(transports);
  MatrixFigures figures;
  figures.ranks_per_block = ranks_per_block_;
  figures.dropped_pairs = dropped_pairs_;
  for (const Pair& each : pairs_) {
    figures.pairs.push_back(cell_of(each, possible_gbps));
  }
  for (const auto& [key, each] : blocks_) {
    figures.blocks.push_back(cell_of(each, possible_gbps));
  }
  std::sort(figures.blocks.begin(), figures.blocks.end(),
            [](const MatrixCell& left, const MatrixCell& right) {
              return std::tie(left.sender, left.receiver) < std::tie(right.sender, right.receiver);
            });
  return figures;
}

}  // namespace penstock::analysis
