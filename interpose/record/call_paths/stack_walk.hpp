// Walks up the calling thread's stack, from a frame to its callers, within the bounds of that stack, and
// notes what it read: while the same words lie in the same places, the same walk gives the same path. Knows
// not what paths are for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "interpose/record/call_paths/frame_rules.hpp"

namespace penstock::record {

/// The most frames of a path.
inline constexpr std::size_t most_frames = 12;

/// Addresses of a thread's own stack; empty: not known. It reaches upwards to its oldest frame.
struct StackBounds {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  /// Returns true if a word lies at `address`, aligned, from `from` on.
  [[nodiscard]] bool has_word(std::uint64_t address, std::uint64_t from) const noexcept {
    return address >= from && address < high && high - address >= sizeof(std::uint64_t) && address % 8 == 0;
  }
  [[nodiscard]] bool holds(std::uint64_t address) const noexcept { return has_word(address, low); }
};

/// Asks the operating system for the calling thread's stack. Cost: µs; of the main thread, some 50 µs. The
/// result is empty if that fails.
[[nodiscard]] StackBounds bounds_of_this_stack() noexcept;

/// Makes an address of what a word of the stack holds: signed return addresses of aarch64 lose their
/// signature.
[[nodiscard]] inline std::uint64_t address_in(std::uint64_t word) noexcept {
#if defined(__aarch64__)
  register std::uint64_t link __asm__("x30") = word;
  __asm__("hint 7" : "+r"(link));  // XPACLRI, a no-op on processors without signatures
  return link;
#else
  return word;
#endif
}

/// A word of the stack that a walk depended on.
struct WordRead {
  std::uint32_t at;        ///< its distance from the frame that the walk began with
  std::uint32_t is_place;  ///< 1: `value` is a place of the stack, as its distance from that frame; else 0
  std::uint64_t value;
};

struct StackPath {
  std::size_t frames = 0;
  std::array<std::uint64_t, most_frames> return_addresses{};  ///< innermost first
  std::size_t words = 0;
  std::array<WordRead, 3 * most_frames + 8> read{};
};

/// Tells the rules of return addresses. May remember what code_at() says.
class FrameRules {
 public:
  virtual CodeAt at(std::uint64_t return_address) noexcept = 0;

 protected:
  ~FrameRules() = default;
};

/// Walks from `frame`, a frame pointer of the calling thread that is in use, and returns the path that begins
/// with `first_return_address`, of at most `most` frames. It is empty if that address is not among the
/// nearest frames. Reads words of the stack above `frame` only, and ends early where it cannot know the next
/// frame.
[[nodiscard]] StackPath walk_stack(std::uint64_t frame, StackBounds bounds,
                                   std::uint64_t first_return_address, std::size_t most,
                                   FrameRules& rules) noexcept;

}  // namespace penstock::record
