#include "tests/benchmarks/message_point.hpp"

#include <algorithm>

namespace penstock::benchmarks {
namespace {

constexpr std::size_t window_messages = 64;
constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

const std::vector<std::size_t> close_sizes = {8,        16,       64,        256,       kib, 4 * kib,
                                              8 * kib,  16 * kib, 64 * kib,  256 * kib, mib, 4 * mib,
                                              16 * mib, 64 * mib, 256 * mib, 1024 * mib};
const std::vector<std::size_t> wide_sizes = {8, 4 * kib, 64 * kib, mib, 16 * mib, 64 * mib};
const std::vector<std::size_t> slow_sizes = {8, 4 * kib, 64 * kib, mib, 16 * mib};

/// A CPU or page faults bound them to some 10 GB/s.
bool is_slow(MemoryKind kind) {
  return kind == MemoryKind::pageable || kind == MemoryKind::managed;
}

bool is_device_to_device(MemoryKind sender_kind, MemoryKind receiver_kind) {
  return sender_kind == MemoryKind::device && receiver_kind == MemoryKind::device;
}

const std::vector<std::size_t>& default_sizes(MemoryKind sender_kind, MemoryKind receiver_kind) {
  if (is_device_to_device(sender_kind, receiver_kind)) return close_sizes;
  return is_slow(sender_kind) || is_slow(receiver_kind) ? slow_sizes : wide_sizes;
}

const char* name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::half_round_trip:
      return "half_round_trip";
    case Pattern::window:
      return "window";
    case Pattern::one_buffer:
      return "one_buffer";
    case Pattern::both_ways:
      return "both_ways";
  }
  return "?";
}

}  // namespace

std::size_t Point::messages() const noexcept {
  if (pattern == Pattern::half_round_trip) return 1;
  const std::size_t limit_bytes = is_device_to_device(sender_kind, receiver_kind) ? 1024 * mib : 256 * mib;
  return std::clamp<std::size_t>(limit_bytes / stride(), 1, window_messages);
}

std::size_t Point::stride() const noexcept {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

std::string name_of(const Point& point) {
  return std::string(name_of(point.pattern)) + '/' + name_of(point.sender_kind) + '/' +
         name_of(point.receiver_kind) + '/' + std::to_string(point.bytes);
}

std::vector<Point> points_of(const std::vector<std::size_t>& sizes) {
  constexpr MemoryKind kinds[] = {MemoryKind::device,     MemoryKind::pinned,         MemoryKind::pageable,
                                  MemoryKind::async_pool, MemoryKind::virtual_memory, MemoryKind::managed};
  std::vector<Point> points;
  for (const MemoryKind sender_kind : kinds) {
    for (const MemoryKind receiver_kind : kinds) {
      for (const Pattern pattern :
           {Pattern::half_round_trip, Pattern::window, Pattern::one_buffer, Pattern::both_ways}) {
        for (const std::size_t bytes : sizes.empty() ? default_sizes(sender_kind, receiver_kind) : sizes) {
          points.push_back({pattern, sender_kind, receiver_kind, bytes});
        }
      }
    }
  }
  return points;
}

}  // namespace penstock::benchmarks
