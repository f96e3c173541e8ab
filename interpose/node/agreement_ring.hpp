// How the ranks of a communicator agree on its non-blocking collectives, one after the other, without waiting
// for each other: each says in shared memory by which way it would carry one out, and whoever asks sees by
// which all would. A rank may give up waiting at any time: then it is the MPI library's call,
// for all. Knows no MPI call.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace penstock::interpose {

/// How all ranks of a communicator carry out one collective call.
enum class Way : std::uint8_t {
  library,
  messages,
  kernels,  ///< one on each rank
};

/// Whether a communicator's ranks agree on its collectives by such words: whoever is the first decides.
enum class AgreementUse : std::uint32_t {
  undecided,
  used,
  given_back,  ///< never, so that nobody needs what there is for it
};

/// What the ranks share; zero when made. Collectives are counted from 1 on, by all ranks alike, in 64 bits,
/// of which words have the lower half: ordinals that meet in one are never far apart. Those that some rank
/// has not heard of yet are as many as there are words, and others have to wait for their word.
struct AgreementRing {
  static constexpr std::uint32_t length = 16;
  /// The ordinal in the lower half; above it how many ranks agree and how many have seen the outcome, ten
  /// bits each; a bit for "not all agree" and one for "not all to kernels"; and what those who agree have
  /// signed.
  std::atomic<std::uint64_t> words[length];
  /// Up to this ordinal all those are the library's on which not all had agreed by then.
  std::atomic<std::uint64_t> given_up;
  std::atomic<std::uint32_t> use;  ///< an AgreementUse

  /// As it is when all of so many ranks have seen the outcome of that ordinal and all before it. Nobody uses
  /// it.
  void continue_after(std::uint64_t ordinal, int ranks) noexcept;
};

/// One rank's view. Refers to the ring. Thread: one at a time.
class Agreement {
 public:
  static constexpr int most_ranks = 1023;

  Agreement(AgreementRing& ring, int ranks) noexcept
      : ring_(&ring), ranks_(static_cast<std::uint32_t>(ranks)) {}

  /// Before anything else, and whatever other ranks have said. Returns what it is for all ranks from now on.
  [[nodiscard]] AgreementUse decide(AgreementUse wanted) noexcept;

  /// This rank has come to that collective, and agrees to nothing but the library, to messages, or to kernels
  /// and messages. Nobody does if signatures (of 10 bits; 0: nothing is signed) differ. False: there is no
  /// word for it yet. Once for each, in order.
  [[nodiscard]] bool say(std::uint64_t ordinal, Way most, std::uint16_t signature = 0) noexcept;
  /// None: not all have said so. What ranks act on is the same on all of them: who has acted on `library`
  /// before it has said its part must not say it any more. Only for ordinals whose outcome this rank has not
  /// marked as seen.
  [[nodiscard]] std::optional<Way> outcome(std::uint64_t ordinal) noexcept;
  /// This rank has acted on the outcome and does not ask again. False: there is no word for it yet, so it has
  /// to be said once more. Once for each, in order.
  [[nodiscard]] bool mark_seen(std::uint64_t ordinal) noexcept;
  /// This rank waits for nobody any more: from now on each collective up to that ordinal has an outcome.
  void give_up(std::uint64_t ordinal) noexcept;

 private:
  AgreementRing* ring_;
  std::uint32_t ranks_;
};

}  // namespace penstock::interpose
