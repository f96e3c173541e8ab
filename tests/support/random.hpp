// A small seeded generator and a digest that give the same numbers on every machine and compiler, so that a
// seed or a case number names the same test everywhere. Not for statistics, not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

  void fill(void* bytes, std::size_t count) noexcept {
    auto* out = static_cast<unsigned char*>(bytes);
    for (; count >= sizeof(std::uint64_t); count -= sizeof(std::uint64_t), out += sizeof(std::uint64_t)) {
      const std::uint64_t word = next();
      std::memcpy(out, &word, sizeof word);
    }
    const std::uint64_t word = next();
    std::memcpy(out, &word, count);
  }

 private:
  std::uint64_t state_;
};

/// Tells byte sequences apart; not cryptographic. Long ones in four lanes, which the processor mixes at once.
[[nodiscard]] inline std::uint64_t digest(const void* bytes, std::size_t count) noexcept {
  const auto* in = static_cast<const unsigned char*>(bytes);
  std::uint64_t lanes[4] = {mix(count), 1, 2, 3};
  for (; count >= sizeof lanes; count -= sizeof lanes, in += sizeof lanes) {
    std::uint64_t words[4];
    std::memcpy(words, in, sizeof words);
    for (int i = 0; i < 4; ++i) lanes[i] = mix(lanes[i] ^ words[i]);
  }
  std::uint64_t value = lanes[0];
  for (int i = 1; i < 4; ++i) value = mix(value ^ lanes[i]);
  for (; count >= sizeof(std::uint64_t); count -= sizeof(std::uint64_t), in += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, in, sizeof word);
    value = mix(value ^ word);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, in, count);
  return mix(value ^ word);
}

}  // namespace penstock::test_support
