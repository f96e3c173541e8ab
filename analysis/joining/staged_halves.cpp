#include "analysis/joining/staged_halves.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace penstock::analysis {
namespace {

/// Copies and halves that may belong together: of one direction and number of bytes, and of one lane or of
/// any.
struct Alike {
  std::vector<std::uint32_t> copies;
  std::vector<std::uint32_t> halves;
};
using Kind = std::tuple<trace::Direction, std::uint64_t, std::uint32_t>;
constexpr std::uint32_t any_lane = ~std::uint32_t{0};

template <typename Time>
void sort_by(std::vector<std::uint32_t>& list, Time time) {
  const auto earlier = [&](std::uint32_t left, std::uint32_t right) { return time(left) < time(right); };
  if (!std::is_sorted(list.begin(), list.end(), earlier)) {
    std::stable_sort(list.begin(), list.end(), earlier);
  }
}

class StagedHalves {
 public:
  StagedHalves(const RankTrace& rank, RankFacts& facts) : rank_(rank), facts_(facts) {}

  void join(bool within_lanes) {
    std::map<Kind, Alike> by_kind;
    for (std::uint32_t i = 0; i < rank_.transfers.size(); ++i) {
      const trace::Transfer& copy = copy_of(i);
      if (copy.key == 0 && copy.transport == trace::TransportKind::staged &&
          facts_.transfers[i].half == TransferFacts::no_half) {
        const auto direction =
            is_device_memory(copy.source) ? trace::Direction::send : trace::Direction::receive;
        by_kind[{direction, copy.bytes, within_lanes ? rank_.transfers[i].lane : any_lane}].copies.push_back(
            i);
      }
    }
    for (std::uint32_t i = 0; i < rank_.halves.size() && !by_kind.empty(); ++i) {
      const trace::MessageHalf& half = half_of(i);
      if (half.key != 0 || !is_device_memory(half.buffer) ||
          facts_.halves[i].message_class != MessageClasses::no_message) {
        continue;
      }
      const Kind kind{half.direction, half.bytes, within_lanes ? rank_.halves[i].lane : any_lane};
      if (const auto found = by_kind.find(kind); found != by_kind.end()) {
        found->second.halves.push_back(i);
      }
    }
    for (auto& [kind, alike] : by_kind) {
      join(alike, std::get<trace::Direction>(kind) == trace::Direction::send);
    }
  }

 private:
  [[nodiscard]] const trace::Transfer& copy_of(std::uint32_t i) const { return rank_.transfers[i].record; }
  [[nodiscard]] const trace::MessageHalf& half_of(std::uint32_t i) const { return rank_.halves[i].record; }

  void join(Alike& alike, bool are_sends) {
    sort_by(alike.copies, [this](std::uint32_t i) { return copy_of(i).end_ns; });
    sort_by(alike.halves,
            [&](std::uint32_t i) { return are_sends ? half_of(i).post_ns : half_of(i).complete_ns; });
    std::size_t next = 0;
    for (const std::uint32_t i : alike.halves) {
      const trace::MessageHalf& half = half_of(i);
      while (next < alike.copies.size() && copy_of(alike.copies[next]).begin_ns < half.post_ns) {
        ++next;
      }
      if (next < alike.copies.size() && copy_of(alike.copies[next]).end_ns <= half.complete_ns) {
        TransferFacts& copy = facts_.transfers[alike.copies[next++]];
        copy.half = i;
        facts_.halves[i].message_class = copy.message_class;
      }
    }
  }

  const RankTrace& rank_;
  RankFacts& facts_;
};

}  // namespace

void join_staged_halves(const RankTrace& rank, RankFacts& facts) {
  StagedHalves halves(rank, facts);
  halves.join(true);   // most are made by the thread that sends or receives
  halves.join(false);  // others may be completed by another
}

}  // namespace penstock::analysis
