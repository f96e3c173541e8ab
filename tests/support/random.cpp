// What tests do to all bytes that they send. It is compiled with optimisation, as other sources of tests are
// not.
#include "tests/support/random.hpp"

#include <cstring>

namespace penstock::test_support {

void Random::fill(void* bytes, std::size_t count) noexcept {
  auto* out = static_cast<unsigned char*>(bytes);
  for (; count >= sizeof(std::uint64_t); count -= sizeof(std::uint64_t), out += sizeof(std::uint64_t)) {
    const std::uint64_t word = next();
    std::memcpy(out, &word, sizeof word);
  }
  const std::uint64_t word = next();
  std::memcpy(out, &word, count);
}

/// Mixes long ones in four lanes, which the processor mixes at once.
std::uint64_t digest(const void* bytes, std::size_t count) noexcept {
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
