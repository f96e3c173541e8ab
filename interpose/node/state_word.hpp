// The state of what two sides share in memory and use again and again: one word of the state and the number
// of the use, moved by either side as a table allows. Knows neither the states nor the sides.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

namespace penstock::interpose {

/// A move of such a state: its side, its states, and when it happens.
template <typename SideType, typename StateType>
struct StateMove {
  using Side = SideType;
  using State = StateType;
  Side side;
  State from;
  State to;
  const char* when;
};

/// `moves`: an array of StateMove with all that may happen. `free` is one of the states. State and generation
/// change together, so a side that names the use it means never moves another one. Thread: any.
template <const auto& moves>
class StateWord {
 public:
  using Side = typename std::remove_cvref_t<decltype(moves[0])>::Side;
  using State = typename std::remove_cvref_t<decltype(moves[0])>::State;

  [[nodiscard]] static constexpr bool may_move(Side side, State from, State to) noexcept {
    return std::ranges::any_of(
        moves, [&](const auto& move) { return move.side == side && move.from == from && move.to == to; });
  }

  /// Returns false, and changes nothing, if the state or the use is another.
  template <Side side, State from, State to>
  [[nodiscard]] bool move(std::uint32_t generation) noexcept {
    return exchange<side, from, to>(generation, generation);
  }
  /// The same from `free`, into the next use.
  template <Side side, State to>
  [[nodiscard]] bool begin_use() noexcept {
    const std::uint32_t last = generation();
    return exchange<side, State::free, to>(last, last + 1);
  }
  /// Moves on from whatever state is not `free` or an end, to `to`, for either side. `is_end`: tells the
  /// ends. Returns the state before; `free` if the use is another.
  template <State to, typename IsEnd>
  State move_from_any(std::uint32_t generation, IsEnd is_end) noexcept {
    State seen = get(generation);
    while (seen != State::free && !is_end(seen)) {
      std::uint64_t expected = word_of(generation, seen);
      if (word_.compare_exchange_weak(expected, word_of(generation, to), std::memory_order_acq_rel,
                                      std::memory_order_acquire))
        break;
      seen = get(generation);
    }
    return seen;
  }

  [[nodiscard]] State get() const noexcept { return state_of(word_.load(std::memory_order_acquire)); }
  /// Returns `free` if the use is another.
  [[nodiscard]] State get(std::uint32_t generation) const noexcept {
    const std::uint64_t seen = word_.load(std::memory_order_acquire);
    return generation_of(seen) == generation ? state_of(seen) : State::free;
  }
  /// Returns the number of the use, or of the last one. From 0; counts on.
  [[nodiscard]] std::uint32_t generation() const noexcept {
    return generation_of(word_.load(std::memory_order_acquire));
  }

 private:
  template <Side side, State from, State to>
  [[nodiscard]] bool exchange(std::uint32_t generation, std::uint32_t next) noexcept {
    static_assert(may_move(side, from, to), "no such move in the table");
    std::uint64_t expected = word_of(generation, from);
    return word_.compare_exchange_strong(expected, word_of(next, to), std::memory_order_acq_rel,
                                         std::memory_order_acquire);
  }
  static constexpr std::uint64_t word_of(std::uint32_t generation, State state) noexcept {
    return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(state);
  }
  static constexpr State state_of(std::uint64_t word) noexcept {
    return static_cast<State>(static_cast<std::uint32_t>(word));
  }
  static constexpr std::uint32_t generation_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }

  std::atomic<std::uint64_t> word_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace penstock::interpose
