// Copies that need instructions of the processor: stores that go past the caches, and reads of several words
// that another thread or a GPU writes meanwhile. There is one set of functions for each processor, and one
// that every compiler knows. Knows neither which sizes are worth it nor who writes.
#pragma once

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace penstock::transports {

/// The copy for any processor.
struct PortableCopy {
  static constexpr std::size_t line_bytes = 64;
  /// The stamped words that one look takes, and the bytes of data in each.
  static constexpr std::uint32_t words_a_look = 4;
  static constexpr std::uint32_t data_bytes = 4;

  /// Copies `line_bytes`. `to` is aligned to as many; `from` need not be. order_lines() must follow the last
  /// line.
  static void copy_line(char* to, const char* from) noexcept { std::memcpy(to, from, line_bytes); }
  /// Makes those lines visible before anything that this thread stores later.
  static void order_lines() noexcept { std::atomic_thread_fence(std::memory_order_release); }

  /// Takes the data of `words_a_look` words, the lower half of each, if the upper half of all of them is
  /// `stamp`. Others write the words meanwhile, each with one store of 8 bytes; `words` is aligned to 16
  /// bytes, `to` need not be. What was written before a word that was taken is seen after it.
  [[nodiscard]] static bool take_words(const std::uint64_t* words, std::uint32_t stamp, char* to) noexcept {
    std::uint32_t data[words_a_look];
    for (std::uint32_t i = 0; i < words_a_look; ++i) {
      // atomic_ref of a const type is C++26
      const std::uint64_t word = __atomic_load_n(words + i, __ATOMIC_ACQUIRE);
      if (word >> 32 != stamp) return false;
      data[i] = static_cast<std::uint32_t>(word);
    }
    std::memcpy(to, data, sizeof(data));
    return true;
  }
};

#if defined(__x86_64__)
struct ProcessorCopy : PortableCopy {
  static void copy_line(char* to, const char* from) noexcept {
    const auto* const source = reinterpret_cast<const __m128i*>(from);
    auto* const line = reinterpret_cast<__m128i*>(to);
    const __m128i first = _mm_loadu_si128(source);
    const __m128i second = _mm_loadu_si128(source + 1);
    const __m128i third = _mm_loadu_si128(source + 2);
    const __m128i fourth = _mm_loadu_si128(source + 3);
    _mm_stream_si128(line, first);
    _mm_stream_si128(line + 1, second);
    _mm_stream_si128(line + 2, third);
    _mm_stream_si128(line + 3, fourth);
  }
  /// Streamed stores are the only ones of this processor that later stores may overtake.
  static void order_lines() noexcept { _mm_sfence(); }

  /// Makes two loads of 16 bytes instead of four of 8: by single words, 4 KiB take longer to be taken than to
  /// arrive. Aligned loads of 16 bytes do not split stores of 8, and loads keep their order; but
  /// ThreadSanitizer does not know them as atomic.
  [[nodiscard, gnu::no_sanitize_thread]] static bool take_words(const std::uint64_t* words,
                                                                std::uint32_t stamp, char* to) noexcept {
    const auto* const pairs = reinterpret_cast<const __m128i*>(words);
    const __m128 first = _mm_castsi128_ps(_mm_load_si128(pairs));
    const __m128 second = _mm_castsi128_ps(_mm_load_si128(pairs + 1));
    const __m128i stamps = _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 3, 1)));
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(stamp));
    if (_mm_movemask_epi8(_mm_cmpeq_epi32(stamps, wanted)) != 0xffff) return false;
    const __m128i data = _mm_castps_si128(_mm_shuffle_ps(first, second, _MM_SHUFFLE(2, 0, 2, 0)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), data);
    return true;
  }
};
#elif defined(__aarch64__)
/// Words are taken one at a time: if the processor lacks LSE2, a load of 16 bytes may fall apart, and its
/// halves are not ordered. The portable order_lines() serves: a barrier orders stores past the caches like
/// any other.
struct ProcessorCopy : PortableCopy {
  static void copy_line(char* to, const char* from) noexcept {
    const auto* const source = reinterpret_cast<const std::uint8_t*>(from);
    const uint8x16_t first = vld1q_u8(source);
    const uint8x16_t second = vld1q_u8(source + 16);
    const uint8x16_t third = vld1q_u8(source + 32);
    const uint8x16_t fourth = vld1q_u8(source + 48);
    // GCC has no intrinsic for it
    asm volatile("stnp %q1, %q2, [%0]\n stnp %q3, %q4, [%0, #32]"
                 :
                 : "r"(to), "w"(first), "w"(second), "w"(third), "w"(fourth)
                 : "memory");
  }
};
#else
using ProcessorCopy = PortableCopy;
#endif

}  // namespace penstock::transports
