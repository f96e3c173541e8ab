#include "tests/differential/arenas.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <numeric>
#include <utility>

#include "tests/support/random.hpp"

namespace penstock::differential {

namespace {

std::size_t index_of(MemoryKind kind) {
  return static_cast<std::size_t>(kind);
}

/// Sums of small whole numbers are exact in any order.
void fill_with_small_numbers(std::byte* bytes, std::size_t count, test_support::Random& random) {
  for (std::size_t at = 0; at + sizeof(double) <= count; at += sizeof(double)) {
    const double number = random.between(-1000, 1000);
    std::memcpy(bytes + at, &number, sizeof number);
  }
}

/// So are products of `most_ranks` complex numbers of up to 100. An odd real part and an even imaginary one
/// keep them from becoming 0, whose sign depends on the order.
void fill_with_small_complex(std::byte* bytes, std::size_t count, test_support::Random& random) {
  for (std::size_t at = 0; at + 2 * sizeof(double) <= count; at += 2 * sizeof(double)) {
    const double imaginary = 2.0 * random.between(1, 50);
    const double parts[] = {2.0 * random.between(-50, 49) + 1, random.chance(50) ? imaginary : -imaginary};
    std::memcpy(bytes + at, parts, sizeof parts);
  }
}

/// What the operation gives the same for in any order, and values that are equal. Of other types any bytes
/// do.
void fill_with_elements(std::byte* bytes, std::size_t count, Reduction reduction,
                        test_support::Random& random) {
  const auto fill_with_pairs = [&](auto value, std::size_t place_of_location) {
    for (std::size_t at = 0; at < count; at += element_bytes(reduction)) {
      value = static_cast<decltype(value)>(random.between(-3, 3));
      const int location = random.between(0, 9);
      std::memcpy(bytes + at, &value, sizeof value);
      std::memcpy(bytes + at + place_of_location, &location, sizeof location);
    }
  };
  switch (reduction) {
    case Reduction::double_sum:
      return fill_with_small_numbers(bytes, count, random);
    case Reduction::complex_product:
      return fill_with_small_complex(bytes, count, random);
    case Reduction::bool_lxor:
      for (std::size_t at = 0; at < count; ++at) bytes[at] &= std::byte{1};
      return;
    case Reduction::short_int_minloc:
      return fill_with_pairs(std::int16_t{}, 4);
    case Reduction::double_int_maxloc:
      return fill_with_pairs(double{}, 8);
    default:
      return;
  }
}

}  // namespace

Arenas::Arenas(const Program& program, int rank, bool host_only)
    : program_(program), rank_(rank), host_only_(host_only) {
  make(MemoryKind::pageable);
}

void Arenas::use_gpu() {
  const auto& bytes = program_.arena_bytes[rank_];
  const bool needs_gpu = !host_only_ && std::any_of(std::begin(bytes) + 1, std::end(bytes),
                                                    [](std::size_t used) { return used > 0; });
  uses_gpu_ = needs_gpu;
  if (needs_gpu) device_ = rank_ % std::max(1, test_support::gpu_count());
  for (const MemoryKind kind : test_support::memory_kinds) {
    if (kind != MemoryKind::pageable) make(kind);
  }
  std::size_t staging_bytes = 0;
  for (const Message& message : program_.messages) {
    if (message.source != rank_ || !message.fills_late) continue;
    for (const Region& region : regions_of(message.send)) staging_bytes += region.bytes;
  }
  staging_ =
      test_support::Memory(needs_gpu ? MemoryKind::pinned : MemoryKind::pageable, staging_bytes, device_);
}

void Arenas::make(MemoryKind kind) {
  const std::size_t bytes = program_.arena_bytes[rank_][index_of(kind)];
  if (bytes == 0) return;
  test_support::Random random(test_support::mix(program_.seed) + index_of(kind) * 8 +
                              static_cast<std::uint64_t>(rank_));
  std::vector<std::byte> image(bytes);
  random.fill(image.data(), bytes);
  for (const Collective& collective : program_.collectives) {
    if (!is_reduction(collective.call)) continue;
    const auto& members = program_.communicators[static_cast<std::size_t>(collective.communicator)].members;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != rank_) continue;
      for (const Region& region : {collective.members[i].send, collective.members[i].receive}) {
        if (region.kind == kind) {
          fill_with_elements(image.data() + region.offset, region.bytes, collective.reduction, random);
        }
      }
    }
  }
  of(kind) = test_support::Memory(host_only_ ? MemoryKind::pageable : kind, bytes, device_);
  of(kind).write(0, image.data(), bytes);
}

std::byte* Arenas::address(const Region& region) const {
  return of(region.kind).data() + region.offset;
}

void Arenas::fill(const Region& region, std::uint64_t value) {
  std::vector<std::byte> bytes(region.bytes);
  test_support::Random(value).fill(bytes.data(), bytes.size());
  of(region.kind).write(region.offset, bytes.data(), bytes.size());
}

void Arenas::fill_with_list(const Region& region, std::uint64_t value) {
  std::vector<std::uint32_t> list(region.bytes / sizeof(std::uint32_t));
  std::iota(list.begin(), list.end(), static_cast<std::uint32_t>(value % 1000));
  test_support::Random random(value);
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random.below(i)]);
  of(region.kind).write(region.offset, list.data(), list.size() * sizeof(std::uint32_t));
}

void Arenas::fill_in_stream_order(const Region& region, std::uint64_t value) {
  std::byte* source = staging_.data() + staging_used_;
  staging_used_ += region.bytes;
  test_support::Random(value).fill(source, region.bytes);
  of(region.kind).write_in_stream_order(region.offset, source, region.bytes);
}

std::uint64_t Arenas::digest(const Region& region) const {
  std::vector<std::byte> bytes(region.bytes + 2 * guard_bytes);
  of(region.kind).read(region.offset - guard_bytes, bytes.data(), bytes.size());
  return test_support::digest(bytes.data(), bytes.size());
}

void Arenas::forget(const Region& region, std::size_t from_byte) {
  const std::vector<std::byte> zeros(region.bytes - from_byte);
  of(region.kind).write(region.offset + from_byte, zeros.data(), zeros.size());
}

void Arenas::forget(const Region& region, Gap gap, std::size_t element_bytes) {
  if (gap.begin == gap.end) return;
  std::vector<std::byte> bytes = read(region);
  for (std::size_t at = 0; at + element_bytes <= bytes.size(); at += element_bytes)
    std::memset(bytes.data() + at + gap.begin, 0, gap.end - gap.begin);
  of(region.kind).write(region.offset, bytes.data(), bytes.size());
}

std::vector<std::byte> Arenas::read(const Region& region) const {
  std::vector<std::byte> bytes(region.bytes);
  of(region.kind).read(region.offset, bytes.data(), bytes.size());
  return bytes;
}

std::uint64_t Arenas::digest(MemoryKind kind) const {
  std::vector<std::byte> bytes(of(kind).size());
  of(kind).read(0, bytes.data(), bytes.size());
  return test_support::digest(bytes.data(), bytes.size());
}

}  // namespace penstock::differential
