#include "analysis/figures/message_matrix.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analysis/joining/call_cursor.hpp"

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

std::vector<MessageMatrix::Pair> MessageMatrix::pairs_of(const RankTrace& rank, std::size_t position,
                                                         Interval window) const {
  using Peer = std::pair<bool, std::int32_t>;  // whether it was received; the other rank
  std::map<Peer, Sums> by_peer;
  auto last = by_peer.end();
  CallCursor starts(rank);
  CallCursor ends(rank);
  for (std::size_t i = 0; i < rank.halves.size(); ++i) {
    const trace::MessageHalf& half = rank.halves[i].record;
    const bool is_received = half.direction == trace::Direction::receive;
    // the receiver's half stands for the message; if it is missing, the sender's does
    if (half.peer < 0 || half.peer >= rank.header.world_size || !window.touches(half.complete_ns) ||
        (!is_received && index_.partner_of(rank, position, i))) {
      continue;
    }
    const std::optional<KnownHalf> own = index_.facts_of(rank, position, i);
    if (!own) {
      continue;
    }
    const Peer peer(is_received, half.peer);
    if (last == by_peer.end() || last->first != peer) {
      last = by_peer.try_emplace(peer).first;
    }
    Sums& sums = last->second;
    ++sums.messages;
    sums.bytes += half.bytes;
    if (is_received) {
      add_receive(rank, position, i, starts, ends, sums);
    } else {
      sums.of_class(index_.class_of_message(rank, position, i)).bytes += half.bytes;
    }
  }
  const std::int32_t self = rank.header.world_rank;
  std::vector<Pair> pairs;
  for (auto& [peer, sums] : by_peer) {
    const auto& [is_received, other] = peer;
    pairs.push_back(is_received ? Pair{other, self, std::move(sums)} : Pair{self, other, std::move(sums)});
  }
  return pairs;
}

void MessageMatrix::add(const RankInput& rank) {
  add(rank.trace, rank.window.position, rank.window.window);
}

void MessageMatrix::add(const RankTrace& rank, std::size_t position, Interval window) {
  world_size_ = rank.header.world_size;
  take(pairs_of(rank, position, window), world_size_);
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
void MessageMatrix::add_receive(const RankTrace& rank, std::size_t position, std::size_t half,
                                CallCursor& starts, CallCursor& ends, Sums& sums) const {
  const trace::MessageHalf& record = rank.halves[half].record;
  const KnownHalf own = *index_.facts_of(rank, position, half);
  const std::span<const TransferFacts> transfers = index_.transfers_of(rank, position, half);
  Share& share = sums.of_class(index_.class_of_message(rank, position, half));
  share.bytes += record.bytes;
  std::uint64_t start_ns = ~std::uint64_t{0};
  std::uint64_t end_ns = 0;
  for (const TransferFacts& each : transfers) {
    if (index_.clocks().can_convert(each.host, own.host)) {
      start_ns =
          std::min(start_ns, index_.clocks().convert(each.begin_ns + each.wait_ns, each.host, own.host));
      end_ns = std::max(end_ns, index_.clocks().convert(each.end_ns, each.host, own.host));
    }
  }
  const std::optional<KnownHalf> sender = index_.partner_of(rank, position, half);
  if (transfers.empty() && sender && index_.clocks().can_convert(sender->host, own.host)) {
    start_ns = std::max(index_.clocks().convert(sender->post_ns, sender->host, own.host), record.post_ns);
    end_ns = record.complete_ns;
  }
  if (record.bytes == 0 || start_ns >= end_ns) {
    return;
  }
  const std::uint32_t lane = rank.halves[half].lane;
  const bool is_seen_at_once =
      transfers.empty() ? record.blocking != 0 : starts.call_at(lane, start_ns) == ends.call_at(lane, end_ns);
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
