// Writes and reads the records of delta-coded blocks (trace_format.hpp): of a record that is like an earlier
// one, only what differs, so that a small message takes a quarter of the bytes. Knows of the records no more
// than which of their words tell what is alike. For the recorder and for what reads a recording.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/record/trace_format.hpp"

namespace penstock::trace {

static_assert(std::endian::native == std::endian::little);

using RecordWords = std::array<std::uint32_t, record_words>;

/// Of each record that is read.
inline constexpr std::size_t record_alignment = alignof(std::uint64_t);

/// The most bytes that a record takes.
inline constexpr std::size_t most_delta_bytes = sizeof(DeltaHead) + record_bytes;

/// Two words of a record that are alike in those which resemble it: the call site and the peer, or names.
struct AlikeWords {
  std::uint8_t first;
  std::uint8_t second;
};

[[nodiscard]] constexpr AlikeWords alike_words_of(RecordKind kind) noexcept {
  switch (kind) {
    case RecordKind::mpi_call:
      return {offsetof(MpiCall, call_site) / 4, offsetof(MpiCall, peer) / 4};
    case RecordKind::message_half:
      return {offsetof(MessageHalf, call_site) / 4, offsetof(MessageHalf, peer) / 4};
    case RecordKind::collective_operation:
      return {offsetof(CollectiveOperation, call_site) / 4, offsetof(CollectiveOperation, function) / 4};
    case RecordKind::transfer:
      return {offsetof(Transfer, reason) / 4, offsetof(Transfer, peer) / 4};
    case RecordKind::range:
      return {offsetof(Range, name) / 4, offsetof(Range, domain) / 4};
    case RecordKind::nccl_call:
      return {offsetof(NcclCall, function) / 4, offsetof(NcclCall, peer) / 4};
    default:
      return {record_words - 1, record_words - 1};
  }
}

/// Owns: the bases of one block. Thread: one at a time.
class DeltaWriter {
 public:
  /// Begins a block.
  void begin() noexcept { bases_ = {}; }

  /// Writes a record to `place`, which has room for `most_delta_bytes` and a word more, and returns where the
  /// next one goes. A reader sees all of the record or nothing.
  std::byte* write(const void* record, std::byte* place) noexcept {
    RecordWords words;
    std::memcpy(words.data(), record, sizeof words);
    const std::uint32_t base = base_of(words);
    const std::uint32_t changed = differing_words(words, bases_[base]);
    bases_[base] = words;
    std::byte* next = place + sizeof(DeltaHead);
    for (std::uint32_t left = changed; left != 0; left &= left - 1) {
      std::memcpy(next, &words[static_cast<std::size_t>(std::countr_zero(left))], sizeof words[0]);
      next += sizeof words[0];
    }
    constexpr std::uint32_t end = 0;
    std::memcpy(next, &end, sizeof end);
    const std::uint32_t head = changed | base << 16 | (words[record_words - 1] & 0xff000000u);
    std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(place))
        .store(head, std::memory_order_release);
    return next;
  }

 private:
  /// Returns a bit for each.
  static std::uint32_t differing_words(const RecordWords& words, const RecordWords& others) noexcept {
    std::uint32_t differing = 0;
#ifdef __SSE2__
    for (std::size_t i = 0; i < record_words; i += 4) {
      const __m128i same = _mm_cmpeq_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&words[i])),
                                           _mm_loadu_si128(reinterpret_cast<const __m128i*>(&others[i])));
      differing |= static_cast<std::uint32_t>(_mm_movemask_ps(_mm_castsi128_ps(same))) << i;
    }
    differing ^= 0xffff;
#else
    for (std::size_t i = 0; i < record_words; ++i)
      differing |= (words[i] != others[i] ? std::uint32_t{1} : std::uint32_t{0}) << i;
#endif
    return differing;
  }

  static std::uint32_t base_of(const RecordWords& words) noexcept {
    const std::uint32_t kind = words[record_words - 1] >> 24;
    const AlikeWords alike = keys_[kind % keys_.size()];
    const std::uint32_t mixed =
        (words[alike.first] * 0x9e3779b1u) ^ (words[alike.second] * 0x85ebca6bu) ^ (kind * 0xc2b2ae35u);
    return mixed * 0x27d4eb2fu >> (32 - std::bit_width(delta_bases - 1));
  }

  static constexpr std::array<AlikeWords, 32> keys_ = [] {
    std::array<AlikeWords, 32> keys{};
    for (std::size_t kind = 0; kind < keys.size(); ++kind)
      keys[kind] = alike_words_of(static_cast<RecordKind>(kind));
    return keys;
  }();

  std::array<RecordWords, delta_bases> bases_{};
};

/// Owns: the bases of one block. Thread: one at a time. Trusts no byte.
class DeltaReader {
 public:
  enum class Found : std::uint8_t {
    record,
    end,      ///< nothing was committed there
    cut_off,  ///< a record goes on behind the bytes that there are
    damage,   ///< no record looks so
  };

  /// Begins a block.
  void begin() noexcept { bases_ = {}; }

  /// Reads what lies at `at`. If it is a record, moves `at` behind it.
  Found read(const std::byte*& at, const std::byte* end) noexcept {
    DeltaHead head;
    if (end - at < static_cast<std::ptrdiff_t>(sizeof head)) return Found::cut_off;
    std::memcpy(&head, at, sizeof head);
    if (head.kind == RecordKind::none) return Found::end;
    const std::byte* word = at + sizeof head;
    constexpr std::size_t word_bytes = sizeof(std::uint32_t);
    // counted only at the end of a block: it is a call, as not every x86_64 has an instruction for it
    if (end - word < std::ptrdiff_t{record_bytes} &&
        end - word < std::ptrdiff_t{word_bytes} * std::popcount(head.changed)) {
      return Found::cut_off;
    }
    std::byte* const record = bases_[head.base].bytes;
    for (std::uint32_t left = head.changed; left != 0; left &= left - 1) {
      std::memcpy(record + static_cast<std::size_t>(std::countr_zero(left)) * word_bytes, word, word_bytes);
      word += word_bytes;
    }
    if (record[record_bytes - 1] != static_cast<std::byte>(head.kind)) return Found::damage;
    record_ = record;
    at = word;
    return Found::record;
  }
  /// Returns the 64 bytes of the record that was read last.
  [[nodiscard]] const std::byte* record() const noexcept { return record_; }

 private:
  struct alignas(record_alignment) Base {
    std::byte bytes[record_bytes];
  };
  std::array<Base, delta_bases> bases_{};
  const std::byte* record_ = nullptr;
};

}  // namespace penstock::trace
