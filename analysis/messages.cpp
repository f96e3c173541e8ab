#include "analysis/messages.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace penstock::analysis {
namespace {

/// When the rank could first serve a message that is being waited for elsewhere: at once in a blocking call,
/// else when it came back into MPI.
std::uint64_t noticed_ns(const RankTrace& rank, const Half& half) {
  const trace::MessageHalf& record = half.record;
  if (record.blocking != 0) {
    return record.post_ns;
  }
  std::uint64_t noticed_ns = record.complete_ns;
  if (const std::uint32_t call = rank.call_at(half.lane, record.complete_ns); call != RankTrace::no_call) {
    noticed_ns = rank.calls[call].record.begin_ns;
  }
  if (record.direction == trace::Direction::receive && record.matched_ns != 0) {
    noticed_ns = std::min(noticed_ns, record.matched_ns);
  }
  return std::max(noticed_ns, record.post_ns);
}

}  // namespace

std::uint32_t MessageIndex::host_of(const RankTrace& rank) const {
  return hosts_.at(rank.header.host_name);
}

void MessageIndex::add(const RankTrace& rank) {
  const std::uint32_t host =
      hosts_.try_emplace(rank.header.host_name, static_cast<std::uint32_t>(hosts_.size())).first->second;
  first_half_of_rank_.push_back(halves_.size());
  const auto own_class = [this](const trace::MessageHalf& record) {
    MessageClass own{.transport = trace::TransportKind::mpi, .size_limit_bytes = size_limit_of(record.bytes)};
    (record.direction == trace::Direction::send ? own.source : own.destination) = record.buffer;
    return classes_.id_of(own);
  };
  for (const Half& half : rank.halves) {
    const trace::MessageHalf& record = half.record;
    const auto index = static_cast<std::uint32_t>(halves_.size());
    halves_.push_back({record.post_ns, record.complete_ns, noticed_ns(rank, half), record.key,
                       rank.header.world_rank, host, record.buffer, record.direction, own_class(record)});
    if (record.key != 0) {
      continue;
    }
    if (const std::uint64_t communicator = rank.global_communicator(record.communicator); communicator != 0) {
      const bool is_send = record.direction == trace::Direction::send;
      without_key_.push_back({communicator, is_send ? rank.header.world_rank : record.peer,
                              is_send ? record.peer : rank.header.world_rank, record.tag, index});
    }
  }
  for (const Transfer& each : rank.transfers) {
    if (each.record.key != 0) {
      transfers_.push_back({each.record.key, each.record.begin_ns, each.record.end_ns, host,
                            each.record.pack_ns, each.record.wait_ns, class_of(rank, each.record),
                            each.record.transport});
    }
  }
  collectives_.add(rank, host);
  if (host >= runs_.size()) {
    runs_.push_back({rank.begin_ns, rank.end_ns});
  } else {
    runs_[host] = {std::min(runs_[host].begin_ns, rank.begin_ns), std::max(runs_[host].end_ns, rank.end_ns)};
  }
}

void MessageIndex::join() {
  partner_.resize(halves_.size());
  std::iota(partner_.begin(), partner_.end(), 0u);
  join_by_key();
  join_by_order();
  std::stable_sort(transfers_.begin(), transfers_.end(),
                   [](const TransferFacts& left, const TransferFacts& right) {
                     return std::tie(left.key, left.begin_ns) < std::tie(right.key, right.begin_ns);
                   });
  mark_transfers_of_messages();
  classify_halves();
  align_clocks();
  collectives_.join(clocks_, hosts_.size());
}

/// One host has one clock, and nothing to align.
void MessageIndex::align_clocks() {
  if (hosts_.size() < 2) {
    return;
  }
  clocks_ = ClockAlignment(runs_);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint32_t i = 0; i < partner_.size(); ++i) {
      const HalfFacts& receive = halves_[i];
      const HalfFacts& send = halves_[partner_[i]];
      if (partner_[i] != i && receive.direction == trace::Direction::receive) {
        clocks_.observe(send.host, send.post_ns, receive.host, receive.complete_ns);
      }
    }
    collectives_.observe(clocks_);
    if (pass == 0) {
      clocks_.fit_drift();
    }
  }
  clocks_.finish();
}

void MessageIndex::mark_transfers_of_messages() {
  std::vector<std::uint64_t> keys;
  for (const HalfFacts& half : halves_) {
    if (half.key != 0) {
      keys.push_back(half.key);
    }
  }
  std::sort(keys.begin(), keys.end());
  auto key = keys.begin();
  for (TransferFacts& transfer : transfers_) {
    while (key != keys.end() && *key < transfer.key) {
      ++key;
    }
    transfer.is_of_message = key != keys.end() && *key == transfer.key;
  }
}

/// A message's class has the buffers of both sides, and the size that was received.
void MessageIndex::classify_halves() {
  for (std::uint32_t i = 0; i < partner_.size(); ++i) {
    if (partner_[i] == i) {
      ++unmatched_;
      continue;
    }
    if (halves_[i].direction == trace::Direction::receive) {
      MessageClass both = classes_.all()[halves_[i].message_class];
      both.source = halves_[partner_[i]].buffer;
      halves_[i].message_class = halves_[partner_[i]].message_class = classes_.id_of(both);
    }
  }
}

std::uint32_t MessageIndex::class_of(const RankTrace& rank, const trace::Transfer& transfer) const {
  const std::uint32_t reason =
      transfer.reason == trace::no_string ? 0 : classes_.reasons().id_of(rank.strings.at(transfer.reason));
  return classes_.id_of(
      {transfer.source, transfer.destination, transfer.transport, reason, size_limit_of(transfer.bytes)});
}

void MessageIndex::pair_up(std::uint32_t send, std::uint32_t receive) {
  partner_[send] = receive;
  partner_[receive] = send;
}

void MessageIndex::join_by_key() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < halves_.size(); ++i) {
    if (halves_[i].key != 0) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [this](std::uint32_t left, std::uint32_t right) {
    return std::tie(halves_[left].key, halves_[left].direction) <
           std::tie(halves_[right].key, halves_[right].direction);
  });
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    const HalfFacts& first = halves_[order[i]];
    const HalfFacts& second = halves_[order[i + 1]];
    const bool is_one_message = first.key == second.key && first.direction == trace::Direction::send &&
                                second.direction == trace::Direction::receive;
    if (is_one_message) {
      pair_up(order[i], order[i + 1]);
      ++i;
    }
  }
}

/// MPI keeps the order of messages that are equal in communicator, source, destination and tag.
void MessageIndex::join_by_order() {
  const auto group = [](const Ordered& each) {
    return std::tie(each.communicator, each.source, each.destination, each.tag);
  };
  std::stable_sort(without_key_.begin(), without_key_.end(), [&](const Ordered& left, const Ordered& right) {
    const HalfFacts& a = halves_[left.half];
    const HalfFacts& b = halves_[right.half];
    return std::tuple_cat(group(left), std::tie(a.direction, a.post_ns)) <
           std::tuple_cat(group(right), std::tie(b.direction, b.post_ns));
  });
  for (std::size_t begin = 0; begin < without_key_.size();) {
    std::size_t end = begin;
    std::size_t receives = begin;  // sends sort before receives
    for (; end < without_key_.size() && group(without_key_[end]) == group(without_key_[begin]); ++end) {
      receives += halves_[without_key_[end].half].direction == trace::Direction::send ? 1 : 0;
    }
    for (std::size_t send = begin, receive = receives; send < receives && receive < end; ++send, ++receive) {
      pair_up(without_key_[send].half, without_key_[receive].half);
    }
    begin = end;
  }
  without_key_ = {};
}

const HalfFacts* MessageIndex::partner_of(const RankTrace& rank, std::size_t position,
                                          std::size_t half) const noexcept {
  const HalfFacts* const own = facts_of(rank, position, half);
  if (own == nullptr) {
    return nullptr;
  }
  const auto index = static_cast<std::size_t>(own - halves_.data());
  return partner_[index] == index ? nullptr : &halves_[partner_[index]];
}

const HalfFacts* MessageIndex::facts_of(const RankTrace& rank, std::size_t position,
                                        std::size_t half) const noexcept {
  const std::size_t index = first_half_of_rank_[position] + half;
  if (index >= halves_.size()) {
    return nullptr;
  }
  const HalfFacts& own = halves_[index];
  const trace::MessageHalf& record = rank.halves[half].record;
  const bool is_recognised = own.rank == rank.header.world_rank && own.post_ns == record.post_ns &&
                             own.direction == record.direction && own.key == record.key;
  return is_recognised ? &own : nullptr;
}

std::uint64_t MessageIndex::number_of(const RankTrace& rank, std::size_t position,
                                      std::size_t half) const noexcept {
  const HalfFacts* const partner = partner_of(rank, position, half);
  if (partner == nullptr) {
    return 0;
  }
  const std::size_t own = first_half_of_rank_[position] + half;
  return std::min(own, static_cast<std::size_t>(partner - halves_.data())) + 1;
}

std::span<const TransferFacts> MessageIndex::transfers_of(std::uint64_t key) const noexcept {
  if (key == 0) {
    return {};
  }
  const auto range = std::equal_range(
      transfers_.begin(), transfers_.end(), TransferFacts{key},
      [](const TransferFacts& left, const TransferFacts& right) { return left.key < right.key; });
  return {range.first, range.second};
}

std::optional<Arrivals> MessageIndex::arrivals_at(const RankTrace& rank, const trace::MpiCall& call) const {
  return collectives_.at(rank, call.communicator, call.collective_ordinal, host_of(rank), clocks_);
}

std::optional<Arrivals> MessageIndex::arrivals_at(const RankTrace& rank,
                                                  const trace::CollectiveOperation& operation) const {
  return collectives_.at(rank, operation.communicator, operation.collective_ordinal, host_of(rank), clocks_);
}

}  // namespace penstock::analysis
