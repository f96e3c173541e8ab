// How the ranks of a communicator decide on its non-blocking collectives, one after the other, without
// waiting for each other. Each rank casts a vote in shared memory, and any rank can read the outcome once all
// have voted. A rank may stop waiting at any time: then the MPI library carries out the call, on all ranks.
// Knows no MPI call.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace penstock::interpose {

/// How all ranks of a communicator carry out one collective call.
enum class Decision : std::uint8_t {
  library,
  messages,
  kernels,  ///< one kernel on each rank
};

/// The use of a communicator's ring, on which the first rank decides.
enum class AgreementUse : std::uint32_t {
  undecided,
  used,
  given_back,  ///< never used, so that its memory can be released
};

/// The memory that the ranks share; zero when made. All ranks count collectives alike, from 1 on, in 64 bits.
/// Words hold the lower half: ordinals that share a word are never far apart. At most as many collectives as
/// there are words may be unseen by some rank; later ones have to wait for their word.
struct AgreementRing {
  static constexpr std::uint32_t length = 16;
  /// The ordinal in the lower half. Above it: how many ranks agree and how many have seen the outcome, ten
  /// bits each; a bit for "not all agree" and one for "not all for kernels"; and the signature of those who
  /// agree.
  std::atomic<std::uint64_t> words[length];
  /// All collectives up to this ordinal on which the ranks had not agreed by then are the library's.
  std::atomic<std::uint64_t> given_up;
  std::atomic<std::uint32_t> use;  ///< an AgreementUse

  /// Sets the state in which all `ranks` have seen the outcomes up to that ordinal. No rank may use the ring
  /// meanwhile.
  void continue_after(std::uint64_t ordinal, int ranks) noexcept;
};

/// One rank's view. Refers to the ring. Thread: one at a time.
class Agreement {
 public:
  static constexpr int most_ranks = 1023;

  Agreement(AgreementRing& ring, int ranks) noexcept
      : ring_(&ring), ranks_(static_cast<std::uint32_t>(ranks)) {}

  /// Decides the ring's use for all ranks, unless another rank was first; returns the decision. Call it
  /// before anything else.
  [[nodiscard]] AgreementUse decide(AgreementUse wanted) noexcept;

  /// Casts this rank's vote: library only, messages, or kernels and messages. If signatures (10 bits; 0:
  /// none) differ, the outcome is the library. Returns false if the ordinal has no word yet; call it again
  /// later. Once for each ordinal, in order.
  [[nodiscard]] bool vote(std::uint64_t ordinal, Decision most, std::uint16_t signature = 0) noexcept;
  /// Returns the outcome, or nothing if not all ranks have voted. All ranks get the same one. A rank that has
  /// acted on `library` before its vote must not vote any more. Only for ordinals that this rank has not
  /// marked as seen.
  [[nodiscard]] std::optional<Decision> outcome(std::uint64_t ordinal) noexcept;
  /// Declares that this rank has acted on the outcome and does not read it again. Returns false if the
  /// ordinal has no word yet; call it again later. Once for each ordinal, in order.
  [[nodiscard]] bool mark_seen(std::uint64_t ordinal) noexcept;
  /// Stops waiting for other ranks: from now on each collective up to that ordinal has an outcome.
  void give_up(std::uint64_t ordinal) noexcept;

 private:
  AgreementRing* ring_;
  std::uint32_t ranks_;
};

}  // namespace penstock::interpose
