// Copies of contiguous bytes. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/loads.cuh"

namespace penstock::transports::kernels {
namespace {

constexpr std::uint32_t warp_threads = 32;

/// Loads that each thread has in flight at a time.
template <class Word>
constexpr std::uint32_t loads_in_flight = sizeof(Word) == 16 ? 4 : 8;

/// Copies whole words. Sources may be a peer's memory, 1.5 µs away, so each thread has several loads in
/// flight: a whole piece in one round, if words are not small.
template <class Word, Loads loads>
__device__ void copy_words(char* to, const char* from, std::uint32_t count, ThreadGroup group) {
  constexpr std::uint32_t in_flight = loads_in_flight<Word>;
  auto* const target = reinterpret_cast<Word*>(to);
  const auto* const source = reinterpret_cast<const Word*>(from);
  for (std::uint32_t first = group.thread; first < count; first += in_flight * group.threads) {
    Word held[in_flight] = {};
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * group.threads < count) held[i] = load<loads>(source + first + i * group.threads);
    }
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * group.threads < count) target[first + i * group.threads] = held[i];
    }
  }
}

/// Copies bytes up to the first whole word, words, and bytes after the last. `to` and `from` must be aligned
/// alike.
template <class Word, Loads loads>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes, ThreadGroup group) {
  const auto misaligned = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) % sizeof(Word));
  const std::uint32_t head = misaligned < bytes ? misaligned : bytes;
  const auto words = static_cast<std::uint32_t>((bytes - head) / sizeof(Word));
  const auto body_end = static_cast<std::uint32_t>(head + words * sizeof(Word));
  const bool in_head = group.thread < head;
  const bool in_tail = group.thread < bytes - body_end;
  // loaded before the words and stored after them, so that no thread waits for these loads alone
  const char head_byte = in_head ? load<loads>(from + group.thread) : char{};
  const char tail_byte = in_tail ? load<loads>(from + body_end + group.thread) : char{};
  copy_words<Word, loads>(to + head, from + head, words, group);
  if (in_head) to[group.thread] = head_byte;
  if (in_tail) to[body_end + group.thread] = tail_byte;
}

template <Loads loads>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes, ThreadGroup group) {
  const std::uintptr_t difference =
      reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
  if (difference % 16 == 0) {
    copy_piece<Word16, loads>(to, from, bytes, group);
  } else if (difference % 8 == 0) {
    copy_piece<std::uint64_t, loads>(to, from, bytes, group);
  } else if (difference % 4 == 0) {
    copy_piece<std::uint32_t, loads>(to, from, bytes, group);
  } else if (difference % 2 == 0) {
    copy_piece<std::uint16_t, loads>(to, from, bytes, group);
  } else {
    copy_piece<std::uint8_t, loads>(to, from, bytes, group);
  }
}

}  // namespace
}  // namespace penstock::transports::kernels
