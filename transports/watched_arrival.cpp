#include "transports/watched_arrival.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>

namespace penstock::transports {
namespace {

/// What a GPU writes at once: a sector of its memory. Larger writes may arrive in pieces, and these in any
/// order.
constexpr std::size_t piece_bytes = 32;
constexpr std::uint64_t mark = 0x9e37'79b9'7f4a'7c15;
constexpr char mark_byte = '\xa5';

/// The last word of a whole piece.
std::uint64_t& mark_of(char* memory, std::size_t piece) noexcept {
  return *reinterpret_cast<std::uint64_t*>(memory + (piece + 1) * piece_bytes - sizeof(std::uint64_t));
}

}  // namespace

WatchedArrival::WatchedArrival(char* memory, std::size_t bytes) noexcept : memory_(memory), bytes_(bytes) {
  const std::size_t whole = bytes / piece_bytes;
  for (std::size_t piece = 0; piece < whole; ++piece) mark_of(memory, piece) = mark;
  std::fill(memory + whole * piece_bytes, memory + bytes, mark_byte);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // the copy must not overtake the marks
}

bool WatchedArrival::is_seen() const noexcept {
  const std::size_t whole = bytes_ / piece_bytes;
  for (std::size_t piece = 0; piece < whole; ++piece) {
    if (std::atomic_ref(mark_of(memory_, piece)).load(std::memory_order_acquire) == mark) return false;
  }
  char* const rest = memory_ + whole * piece_bytes;
  return whole * piece_bytes == bytes_ || std::any_of(rest, memory_ + bytes_, [](char& byte) {
           return std::atomic_ref(byte).load(std::memory_order_acquire) != mark_byte;
         });
}

bool WatchedArrival::is_seen_soon() const noexcept {
  constexpr auto patience = std::chrono::microseconds(20);
  const auto begin = std::chrono::steady_clock::now();
  do {
    if (is_seen()) return true;
  } while (std::chrono::steady_clock::now() - begin < patience);
  return false;
}

}  // namespace penstock::transports
