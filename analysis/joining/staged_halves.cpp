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

template <typename Time>
void sort_by(std::vector<std::uint32_t>& list, Time time) {
  const auto earlier = [&](std::uint32_t left, std::uint32_t right) { return time(left) < time(right); };
  if (!std::is_sorted(list.begin(), list.end(), earlier)) {
    std::stable_sort(list.begin(), list.end(), earlier);
  }
}

}  // namespace

void join_staged_halves(const RankTrace& rank, RankFacts& facts) {
  const auto copy_of = [&](std::uint32_t i) -> const trace::Transfer& { return rank.transfers[i].record; };
  const auto half_of = [&](std::uint32_t i) -> const trace::MessageHalf& { return rank.halves[i].record; };
  std::map<Kind, Alike> by_kind;
  for (std::uint32_t i = 0; i < rank.transfers.size(); ++i) {
    const trace::Transfer& copy = copy_of(i);
    if (copy.key == 0 && copy.transport == trace::TransportKind::staged) {
      const auto direction =
          is_device_memory(copy.source) ? trace::Direction::send : trace::Direction::receive;
      by_kind[{direction, copy.bytes}].copies.push_back(i);
    }
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
}

}  // namespace penstock::analysis
