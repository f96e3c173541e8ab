#include "analysis/joining/hand_staged.hpp"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

namespace penstock::analysis {
namespace {

constexpr std::uint64_t fewest_bytes = 64;  // smaller copies are flags and sums, whose sizes agree by chance

/// Values of CUpti_ActivityMemcpyKind.
constexpr std::uint8_t host_to_device = 1;
constexpr std::uint8_t device_to_host = 2;

/// The moment of a message on this rank.
struct HostMessage {
  std::uint64_t time_ns;  ///< a send's post, a receive's completion
  std::uint64_t bytes;
  std::uint32_t half;
};

/// The application's copies in one direction, by size, each size in time order.
class Copies {
 public:
  Copies(const RankTrace& rank, std::uint8_t kind) {
    for (const trace::DeviceActivity& each : rank.copies) {
      if (each.kind == trace::RecordKind::device_copy && each.own == 0 && each.copy_kind == kind &&
          each.bytes >= fewest_bytes) {
        by_size_[each.bytes].push_back({each.begin_ns, each.end_ns});
      }
    }
    for (auto& [bytes, copies] : by_size_) {
      std::sort(copies.begin(), copies.end(), [](const Interval& left, const Interval& right) {
        return left.begin_ns != right.begin_ns ? left.begin_ns < right.begin_ns : left.end_ns < right.end_ns;
      });
    }
  }
  [[nodiscard]] const std::vector<Interval>& of_size(std::uint64_t bytes) const {
    static const std::vector<Interval> none;
    const auto found = by_size_.find(bytes);
    return found == by_size_.end() ? none : found->second;
  }

 private:
  std::unordered_map<std::uint64_t, std::vector<Interval>> by_size_;
};

/// Returns for each message the copy of its size that ended last before it and belongs to no other, or null.
std::vector<const Interval*> copies_before(const std::vector<HostMessage>& messages, const Copies& copies) {
  struct Pending {
    std::size_t next = 0;
    std::vector<const Interval*> ended;
  };
  std::unordered_map<std::uint64_t, Pending> pending;
  std::vector<const Interval*> found(messages.size(), nullptr);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::vector<Interval>& candidates = copies.of_size(messages[i].bytes);
    Pending& of_size = pending[messages[i].bytes];
    for (; of_size.next < candidates.size() && candidates[of_size.next].end_ns <= messages[i].time_ns;
         ++of_size.next) {
      of_size.ended.push_back(&candidates[of_size.next]);
    }
    if (!of_size.ended.empty()) {
      found[i] = of_size.ended.back();
      of_size.ended.pop_back();
    }
  }
  return found;
}

/// Returns for each message the first copy of its size that began after it and belongs to no earlier one, or
/// null.
std::vector<const Interval*> copies_behind(const std::vector<HostMessage>& messages, const Copies& copies) {
  std::unordered_map<std::uint64_t, std::size_t> next;
  std::vector<const Interval*> found(messages.size(), nullptr);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::vector<Interval>& candidates = copies.of_size(messages[i].bytes);
    std::size_t& of_size = next[messages[i].bytes];
    while (of_size < candidates.size() && candidates[of_size].begin_ns < messages[i].time_ns) {
      ++of_size;
    }
    if (of_size < candidates.size()) {
      found[i] = &candidates[of_size++];
    }
  }
  return found;
}

bool is_host_memory(trace::BufferKind kind) {
  return kind == trace::BufferKind::pageable || kind == trace::BufferKind::pinned ||
         kind == trace::BufferKind::unknown;
}

}  // namespace

HandStagedHalves hand_staged_halves(const RankTrace& rank, Interval window) {
  HandStagedHalves found;
  if (rank.copies.empty()) {
    return found;
  }
  std::vector<HostMessage> sent;
  std::vector<HostMessage> received;
  for (std::uint32_t i = 0; i < rank.halves.size(); ++i) {
    const trace::MessageHalf& record = rank.halves[i].record;
    const bool is_send = record.direction == trace::Direction::send;
    const std::uint64_t time_ns = is_send ? record.post_ns : record.complete_ns;
    if (is_host_memory(record.buffer) && record.bytes >= fewest_bytes && window.touches(time_ns)) {
      (is_send ? sent : received).push_back({time_ns, record.bytes, i});
    }
  }
  const Copies out_copies(rank, device_to_host);
  const Copies in_copies(rank, host_to_device);
  const auto are_none = [](const std::vector<HostMessage>& messages, const Copies& copies) {
    return std::all_of(messages.begin(), messages.end(),
                       [&copies](const HostMessage& each) { return copies.of_size(each.bytes).empty(); });
  };
  if (are_none(sent, out_copies) && are_none(received, in_copies)) {
    return found;
  }
  const auto is_earlier = [](const HostMessage& left, const HostMessage& right) {
    return left.time_ns != right.time_ns ? left.time_ns < right.time_ns : left.bytes < right.bytes;
  };
  for (std::vector<HostMessage>* list : {&sent, &received}) {
    if (!std::is_sorted(list->begin(), list->end(), is_earlier)) {
      std::sort(list->begin(), list->end(), is_earlier);
    }
  }
  const std::vector<const Interval*> before = copies_before(sent, out_copies);
  const std::vector<const Interval*> behind = copies_behind(received, in_copies);
  found.copies.reserve(sent.size() + received.size());  // so that pointers into it stay
  const auto take = [&](const std::vector<HostMessage>& messages,
                        const std::vector<const Interval*>& copies) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const Interval* copy = copies[i];
      if (copy != nullptr) {
        copy = &found.copies.emplace_back(*copy);
      }
      found.halves.push_back({messages[i].half, copy});
    }
  };
  take(sent, before);
  take(received, behind);
  return found;
}

}  // namespace penstock::analysis
