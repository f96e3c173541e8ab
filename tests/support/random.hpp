// A small seeded generator and a digest that give the same numbers on every machine and compiler, so that a
// seed or a case number names the same test everywhere. Not for statistics, not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::test_support {

/// One step of splitmix64. Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// 2014.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) noexcept : state_(mix(seed)) {}

  constexpr std::uint64_t next() noexcept { return mix(state_++); }
  /// Uniform in [0, bound); the bias of the remainder does not matter here. 0 for bound 0.
  constexpr std::size_t below(std::size_t bound) noexcept { return bound == 0 ? 0 : next() % bound; }
  /// Uniform in [first, last].
  constexpr int between(int first, int last) noexcept {
    return first + static_cast<int>(below(static_cast<std::size_t>(last - first) + 1));
  }
  constexpr bool chance(unsigned percent) noexcept { return below(100) < percent; }

  void fill(void* bytes, std::size_t count) noexcept;

 private:
  std::uint64_t state_;
};

/// Tells byte sequences apart; not cryptographic.
[[nodiscard]] std::uint64_t digest(const void* bytes, std::size_t count) noexcept;

}  // namespace penstock::test_support
