// Answers queries to the index, rank by rank. messages_join.cpp joins the ranks.
#include "analysis/joining/messages.hpp"

#include <algorithm>
#include <utility>

#include "analysis/tables/release.hpp"

namespace penstock::analysis {

std::uint32_t MessageIndex::host_of(const RankTrace& rank) const {
  const std::uint32_t* const position =
      position_of_rank_.find(static_cast<std::uint32_t>(rank.header.world_rank));
  return position == nullptr ? hosts_.at(rank.header.host_name) : ranks_[*position].host;
}

void MessageIndex::add(RankFacts facts) {
  const auto position = static_cast<std::uint32_t>(ranks_.size());
  Rank& rank = ranks_.emplace_back();
  rank.number = facts.rank;
  rank.host = hosts_.try_emplace(facts.host_name, static_cast<std::uint32_t>(hosts_.size())).first->second;
  rank.facts = std::move(facts);
  if (position != 0) {
    const Rank& last = ranks_[position - 1];
    rank.halves_before = last.halves_before + last.facts.halves.size();
  }
  if (const auto number = static_cast<std::uint32_t>(rank.number);
      position_of_rank_.find(number) == nullptr) {
    position_of_rank_[number] = position;
  }
  // from here on, classes are numbered alike on all ranks
  std::vector<std::uint32_t> class_of_own;
  for (const MessageClass& own : rank.facts.classes.all()) {
    MessageClass which = own;
    which.reason = classes_.reasons().id_of(rank.facts.classes.reasons().at(own.reason));
    if (class_of_own.empty()) {
      class_of_own.push_back(MessageClasses::no_message);
      continue;
    }
    const std::uint32_t id = classes_.id_of(which);
    which.is_part = true;  // whether it is one shows when the ranks are joined
    const std::uint32_t part = classes_.id_of(which);
    part_of_class_.resize(std::max<std::size_t>(part_of_class_.size(), id + std::size_t{1}));
    part_of_class_[id] = part;
    class_of_own.push_back(id);
  }
  for (TransferFacts& each : rank.facts.transfers) {
    each.message_class = class_of_own[each.message_class];
    each.host = rank.host;
  }
  for (HalfFacts& each : rank.facts.halves) {
    each.message_class = class_of_own[each.message_class];
  }
  collectives_.add(rank.facts, rank.host);
  release(rank.facts.arrivals);
  windows_.add(rank.facts, rank.host);
  release(rank.facts.window_calls);
  const Interval run = rank.facts.run;
  if (rank.host >= runs_.size()) {
    runs_.push_back(run);
  } else {
    Interval& all = runs_[rank.host];
    all = {std::min(all.begin_ns, run.begin_ns), std::max(all.end_ns, run.end_ns)};
  }
}

bool MessageIndex::is_recognised(const RankTrace& rank, std::size_t position,
                                 std::size_t half) const noexcept {
  const std::vector<HalfFacts>& known = ranks_[position].facts.halves;
  if (half >= known.size()) {
    return false;
  }
  // of a job that runs more may have been recorded since, and the oldest overwritten
  if (rank.halves.size() == known.size() && (rank.finished || rank.header.losses_generation == 0)) {
    return true;
  }
  const trace::MessageHalf& record = rank.halves[half].record;
  return ranks_[position].number == rank.header.world_rank && known[half].post_ns == record.post_ns &&
         known[half].direction == record.direction && known[half].key == record.key;
}

std::optional<KnownHalf> MessageIndex::partner_of(const RankTrace& rank, std::size_t position,
                                                  std::size_t half) const noexcept {
  if (!is_recognised(rank, position, half)) {
    return std::nullopt;
  }
  const Partner partner = ranks_[position].partners[half];
  return partner.half == none ? std::nullopt : std::optional(known(partner));
}

JoinedHalf MessageIndex::joined(const RankTrace& rank, std::size_t position,
                                std::size_t half) const noexcept {
  const Rank& known = ranks_[position];
  JoinedHalf joined{.host = known.host};
  if (!is_recognised(rank, position, half)) {
    joined.transfers = transfers_of(rank.halves[half].record.key);
  } else {
    if (known.first_transfers[half] != none) {
      joined.transfers = transfers_of(rank, position, half);
    }
    joined.own = &known.facts.halves[half];
    joined.message_class = joined.own->message_class;
    if (const Partner partner = known.partners[half]; partner.half != none) {
      joined.partner = &at(partner);
      joined.partner_rank = ranks_[partner.position].number;
      joined.partner_host = ranks_[partner.position].host;
    }
  }
  if (!joined.transfers.empty()) {
    joined.message_class = joined.transfers.front().message_class;
  }
  return joined;
}

std::uint64_t MessageIndex::number_of(const RankTrace& rank, std::size_t position,
                                      std::size_t half) const noexcept {
  if (!partner_of(rank, position, half)) {
    return 0;
  }
  const Partner partner = ranks_[position].partners[half];
  const std::uint64_t own_number = ranks_[position].halves_before + half;
  return std::min(own_number, ranks_[partner.position].halves_before + partner.half) + 1;
}

std::uint32_t MessageIndex::class_of(const RankTrace& rank, std::size_t position,
                                     std::size_t transfer) const noexcept {
  const std::vector<std::uint32_t>& known = ranks_[position].transfer_classes;
  if (transfer >= known.size()) {
    return MessageClasses::no_message;
  }
  const std::span<const TransferFacts> alike = transfers_of(rank.transfers[transfer].record.key);
  return alike.empty() || alike.front().is_of_message ? known[transfer] : part_of_class_[known[transfer]];
}

std::uint32_t MessageIndex::class_of_message(const RankTrace& rank, std::size_t position,
                                             std::size_t half) const noexcept {
  return joined(rank, position, half).message_class;
}

std::size_t MessageIndex::bucket_of(std::uint64_t key) const noexcept {
  return std::min<std::size_t>(sender_part_of(key), buckets_.size() - 2);
}

/// Returns the first transfer with the key. `guess`: the transfer's likely place; it may also lie shortly
/// after.
std::uint32_t MessageIndex::find_transfer(std::uint64_t key, std::uint32_t guess) const noexcept {
  const auto is_first = [&](std::size_t place) {
    return place < transfers_.size() && transfers_[place].key == key &&
           (place == 0 || transfers_[place - 1].key != key);
  };
  constexpr std::uint32_t near = 4;
  for (std::uint32_t place = guess; place < guess + near; ++place) {
    if (is_first(place)) {
      return place;
    }
  }
  if (key == 0 || buckets_.empty()) {
    return none;
  }
  const auto begin = transfers_.begin();
  const auto first =
      std::lower_bound(begin + static_cast<std::ptrdiff_t>(buckets_[bucket_of(key)]),
                       begin + static_cast<std::ptrdiff_t>(buckets_[bucket_of(key) + 1]), key,
                       [](const TransferFacts& left, std::uint64_t wanted) { return left.key < wanted; });
  return first != transfers_.end() && first->key == key ? static_cast<std::uint32_t>(first - begin) : none;
}

std::span<const TransferFacts> MessageIndex::transfers_of(const RankTrace& rank, std::size_t position,
                                                          std::size_t half) const noexcept {
  const std::vector<std::uint32_t>& first_transfers = ranks_[position].first_transfers;
  if (half >= first_transfers.size() || first_transfers[half] == none) {
    return is_recognised(rank, position, half) ? std::span<const TransferFacts>{}
                                               : transfers_of(rank.halves[half].record.key);
  }
  const std::size_t first = first_transfers[half];
  if (transfers_[first].key != rank.halves[half].record.key) {
    return transfers_of(rank.halves[half].record.key);
  }
  std::size_t end = first;
  while (end < transfers_.size() && transfers_[end].key == transfers_[first].key) {
    ++end;
  }
  return std::span(transfers_).subspan(first, end - first);
}

std::span<const TransferFacts> MessageIndex::transfers_of(std::uint64_t key) const noexcept {
  const std::uint32_t first = key == 0 ? none : find_transfer(key, 0);
  if (first == none) {
    return {};
  }
  std::size_t end = first;
  while (end < transfers_.size() && transfers_[end].key == key) {
    ++end;
  }
  return std::span(transfers_).subspan(first, end - first);
}

std::optional<WindowRelease> MessageIndex::release_of(const RankTrace& rank,
                                                      const trace::MpiCall& call) const {
  const std::optional<WindowCall> known = window_call_of(rank, call);
  return known && known->peer >= 0 ? windows_.release_of(*known, host_of(rank), clocks_) : std::nullopt;
}

std::optional<Arrivals> MessageIndex::arrivals_at(const RankTrace& rank, const trace::MpiCall& call) const {
  if (call.collective_ordinal == 0) {
    return std::nullopt;
  }
  return collectives_.at(rank, call.communicator, call.collective_ordinal, 0, host_of(rank), clocks_);
}

std::optional<Arrivals> MessageIndex::arrivals_at(const RankTrace& rank, const NcclCallFacts& call) const {
  const std::uint32_t host = host_of(rank);
  std::int32_t expected = call.expected;
  if (expected == 0) {
    const std::optional<Arrivals> makers = collectives_.at(call.made, 1, host, clocks_);
    expected = makers ? makers->seen : 0;
  }
  std::optional<Arrivals> arrivals = collectives_.at(call.meeting, call.ordinal, host, clocks_);
  return expected > 1 && arrivals && arrivals->seen == expected ? arrivals : std::nullopt;
}

std::optional<Arrivals> MessageIndex::arrivals_at(const RankTrace& rank,
                                                  const trace::CollectiveOperation& operation) const {
  return collectives_.at(rank, operation.communicator, operation.collective_ordinal, operation.start,
                         host_of(rank), clocks_);
}

}  // namespace penstock::analysis
