#include "analysis/joining/needed_facts.hpp"

#include <algorithm>
#include <utility>

namespace penstock::analysis {
namespace {

constexpr std::uint32_t left_out = ~std::uint32_t{0};

}  // namespace

void NeededFacts::add(const RankFacts& rank) {
  ranks_[static_cast<std::uint32_t>(rank.rank)] = true;
  for (const HalfFacts& each : rank.halves) {
    if (each.key != 0) {
      keys_.push_back(each.key);
    }
  }
  for (const TransferFacts& each : rank.transfers) {
    if (each.key != 0) {
      keys_.push_back(each.key);
    }
  }
  for (const CollectiveArrival& each : rank.arrivals) {
    communicators_.insert(each.communicator);
  }
  for (const WindowCall& each : rank.window_calls) {
    if (each.peer >= 0) {
      awaited_.emplace(each.window, each.peer);
    }
  }
}

void NeededFacts::finish() {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  for (std::size_t begin = 0, end = 0; begin < keys_.size(); begin = end) {
    while (end < keys_.size() && sender_part_of(keys_[end]) == sender_part_of(keys_[begin])) {
      ++end;
    }
    keys_of_sender_[sender_part_of(keys_[begin])] = {begin, end};
  }
}

bool NeededFacts::has_key(std::uint64_t key) const noexcept {
  const Keys* const keys = keys_of_sender_.find(sender_part_of(key));
  return keys != nullptr && std::binary_search(keys_.begin() + static_cast<std::ptrdiff_t>(keys->begin),
                                               keys_.begin() + static_cast<std::ptrdiff_t>(keys->end), key);
}

/// Returns, for each half, its place among those that stay. They keep their order, because equal halves are
/// paired in order.
std::vector<std::uint32_t> NeededFacts::places_of_kept(const RankFacts& other) const {
  std::vector<std::uint32_t> places(other.halves.size(), left_out);
  for (const HalfGroup& group : other.groups) {
    const bool meets_ours = ranks_.find(static_cast<std::uint32_t>(group.peer)) != nullptr;
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      const std::uint32_t half = other.in_groups[i];
      if (group.has_keys ? has_key(other.halves[half].key) : meets_ours) {
        places[half] = 0;
      }
    }
  }
  std::uint32_t kept = 0;
  for (std::uint32_t& place : places) {
    if (place != left_out) {
      place = kept++;
    }
  }
  return places;
}

void NeededFacts::keep_in(RankFacts& other) const {
  const std::vector<std::uint32_t> places = places_of_kept(other);
  std::vector<HalfFacts> halves;
  for (std::size_t half = 0; half < places.size(); ++half) {
    if (places[half] != left_out) {
      halves.push_back(other.halves[half]);
    }
  }
  halves.shrink_to_fit();
  std::vector<HalfGroup> groups;
  std::vector<std::uint32_t> in_groups;
  for (HalfGroup group : other.groups) {
    const auto begin = static_cast<std::uint32_t>(in_groups.size());
    for (std::uint32_t i = group.begin; i < group.end; ++i) {
      if (const std::uint32_t place = places[other.in_groups[i]]; place != left_out) {
        in_groups.push_back(place);
      }
    }
    group.begin = begin;
    group.end = static_cast<std::uint32_t>(in_groups.size());
    if (group.begin != group.end) {
      groups.push_back(group);
    }
  }
  other.halves = std::move(halves);
  other.groups = std::move(groups);
  other.in_groups = std::move(in_groups);
  std::erase_if(other.transfers, [this](const TransferFacts& each) { return !has_key(each.key); });
  other.transfers.shrink_to_fit();
  std::erase_if(other.arrivals, [this](const CollectiveArrival& each) {
    return communicators_.find(each.communicator) == communicators_.end();
  });
  std::erase_if(other.window_calls, [&](const WindowCall& each) {
    return each.peer >= 0 ? ranks_.find(static_cast<std::uint32_t>(each.peer)) == nullptr
                          : !awaited_.contains({each.window, other.rank});
  });
}

}  // namespace penstock::analysis
