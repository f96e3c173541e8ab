#include "analysis/joining/staged_halves.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace penstock::analysis {
namespace {

/// Copies and halves of one direction and number of bytes, which may belong together.
struct Alike {
  std::vector<std::uint32_t> copies;
  std::vector<std::uint32_t> halves;
};
using Kind = std::pair<trace::Direction, std::uint64_t>;

/// One that no key joins.
bool is_staging_copy(const trace::Transfer& copy) noexcept {
  return copy.key == 0 && copy.transport == trace::TransportKind::staged;
}
trace::Direction direction_of(const trace::Transfer& copy) noexcept {
  return is_device_memory(copy.source) ? trace::Direction::send : trace::Direction::receive;
}

template <typename Time>
void sort_by(std::vector<std::uint32_t>& list, Time time) {
  const auto earlier = [&](std::uint32_t left, std::uint32_t right) { return time(left) < time(right); };
  if (!std::is_sorted(list.begin(), list.end(), earlier)) {
    std::stable_sort(list.begin(), list.end(), earlier);
  }
}

/// Joins what is left: a partitioned message of which pieces become ready one after the other has a copy for
/// each, as many bytes as it has together. Messages whose copies overlap in time stay as they are.
void join_pieces(const RankTrace& rank, RankFacts& facts, trace::Direction direction) {
  const auto copy_of = [&](std::uint32_t i) -> const trace::Transfer& { return rank.transfers[i].record; };
  std::vector<std::uint32_t> copies;
  for (std::uint32_t i = 0; i < rank.transfers.size(); ++i) {
    const trace::Transfer& copy = copy_of(i);
    if (is_staging_copy(copy) && direction_of(copy) == direction &&
        facts.transfers[i].half == TransferFacts::no_half)
      copies.push_back(i);
  }
  if (copies.empty()) return;
  sort_by(copies, [&](std::uint32_t i) { return copy_of(i).begin_ns; });
  for (std::uint32_t i = 0; i < rank.halves.size(); ++i) {
    const trace::MessageHalf& half = rank.halves[i].record;
    if (half.key != 0 || half.direction != direction || !is_device_memory(half.buffer) ||
        facts.halves[i].message_class != MessageClasses::no_message)
      continue;
    const auto first = std::ranges::lower_bound(copies, half.post_ns, {},
                                                [&](std::uint32_t copy) { return copy_of(copy).begin_ns; });
    std::uint64_t bytes = 0;
    auto end = first;
    for (; end != copies.end() && bytes < half.bytes && copy_of(*end).end_ns <= half.complete_ns; ++end)
      bytes += facts.transfers[*end].half == TransferFacts::no_half ? copy_of(*end).bytes : half.bytes + 1;
    if (first == end || bytes != half.bytes) continue;
    facts.halves[i].message_class = facts.transfers[*first].message_class;
    std::for_each(first, end, [&](std::uint32_t copy) { facts.transfers[copy].half = i; });
  }
}

}  // namespace

void join_staged_halves(const RankTrace& rank, RankFacts& facts) {
  const auto copy_of = [&](std::uint32_t i) -> const trace::Transfer& { return rank.transfers[i].record; };
  const auto half_of = [&](std::uint32_t i) -> const trace::MessageHalf& { return rank.halves[i].record; };
  std::map<Kind, Alike> by_kind;
  for (std::uint32_t i = 0; i < rank.transfers.size(); ++i) {
    const trace::Transfer& copy = copy_of(i);
    if (is_staging_copy(copy)) by_kind[{direction_of(copy), copy.bytes}].copies.push_back(i);
  }
  for (std::uint32_t i = 0; i < rank.halves.size() && !by_kind.empty(); ++i) {
    const trace::MessageHalf& half = half_of(i);
    if (half.key == 0 && is_device_memory(half.buffer)) {
      if (const auto found = by_kind.find({half.direction, half.bytes}); found != by_kind.end()) {
        found->second.halves.push_back(i);
      }
    }
  }
  for (auto& [kind, alike] : by_kind) {
    sort_by(alike.copies, [&](std::uint32_t i) { return copy_of(i).begin_ns; });
    sort_by(alike.halves, [&](std::uint32_t i) { return half_of(i).post_ns; });
    std::set<std::pair<std::uint64_t, std::uint32_t>> open;  // halves by completion time
    auto next = alike.halves.begin();
    for (const std::uint32_t i : alike.copies) {
      const trace::Transfer& copy = copy_of(i);
      for (; next != alike.halves.end() && half_of(*next).post_ns <= copy.begin_ns; ++next) {
        open.emplace(half_of(*next).complete_ns, *next);
      }
      open.erase(open.begin(), open.lower_bound({copy.begin_ns, 0}));
      if (const auto first = open.lower_bound({copy.end_ns, 0}); first != open.end()) {
        facts.transfers[i].half = first->second;
        facts.halves[first->second].message_class = facts.transfers[i].message_class;
        open.erase(first);
      }
    }
  }
  for (const auto direction : {trace::Direction::send, trace::Direction::receive})
    join_pieces(rank, facts, direction);
}

}  // namespace penstock::analysis
