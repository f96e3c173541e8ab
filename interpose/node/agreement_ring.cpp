#include "interpose/node/agreement_ring.hpp"

namespace penstock::interpose {
namespace {

/// The content of one word of the ring.
class Word {
 public:
  explicit constexpr Word(std::uint64_t bits) noexcept : bits_(bits) {}
  [[nodiscard]] static constexpr Word first_of(std::uint64_t ordinal) noexcept {
    return Word(lower_half(ordinal));
  }
  [[nodiscard]] static constexpr std::uint32_t lower_half(std::uint64_t ordinal) noexcept {
    return static_cast<std::uint32_t>(ordinal);
  }
  [[nodiscard]] static constexpr Word seen_by_all(std::uint64_t ordinal, std::uint64_t ranks) noexcept {
    return Word(lower_half(ordinal) | ranks << agreeing_shift | ranks << seen_shift);
  }

  [[nodiscard]] constexpr std::uint64_t bits() const noexcept { return bits_; }
  [[nodiscard]] constexpr bool is_of(std::uint64_t ordinal) const noexcept {
    return lower_half(bits_) == lower_half(ordinal);
  }
  [[nodiscard]] constexpr std::uint32_t agreeing() const noexcept { return count_at(agreeing_shift); }
  [[nodiscard]] constexpr std::uint32_t seen() const noexcept { return count_at(seen_shift); }
  [[nodiscard]] constexpr bool is_refused() const noexcept { return (bits_ & refused_bit) != 0; }

  [[nodiscard]] constexpr bool is_for_kernels() const noexcept { return (bits_ & no_kernels_bit) == 0; }

  [[nodiscard]] constexpr Word with_one_more(Decision most, std::uint64_t signature) const noexcept {
    const std::uint64_t signed_before = bits_ >> signature_shift;
    const bool fits = signature == 0 || signed_before == 0 || signature == signed_before;
    if (most == Decision::library || !fits) return refused();
    const std::uint64_t bits =
        bits_ | signature << signature_shift | (most == Decision::kernels ? 0 : no_kernels_bit);
    return Word(bits + (std::uint64_t{1} << agreeing_shift));
  }
  [[nodiscard]] constexpr Word refused() const noexcept { return Word(bits_ | refused_bit); }
  [[nodiscard]] constexpr Word seen_once_more() const noexcept {
    return Word(bits_ + (std::uint64_t{1} << seen_shift));
  }
  /// Returns true if this word may be reused for that ordinal.
  [[nodiscard]] constexpr bool is_free_for(std::uint64_t next, std::uint32_t ranks) const noexcept {
    if (bits_ == 0) return next <= AgreementRing::length;
    return is_of(next - AgreementRing::length) && seen() == ranks;
  }

 private:
  static constexpr unsigned agreeing_shift = 32;
  static constexpr unsigned seen_shift = 42;
  static constexpr std::uint64_t refused_bit = std::uint64_t{1} << 52;
  static constexpr std::uint64_t no_kernels_bit = std::uint64_t{1} << 53;
  static constexpr unsigned signature_shift = 54;
  [[nodiscard]] constexpr std::uint32_t count_at(unsigned shift) const noexcept {
    return static_cast<std::uint32_t>(bits_ >> shift) & Agreement::most_ranks;
  }

  std::uint64_t bits_;
};

std::atomic<std::uint64_t>& word_of(AgreementRing& ring, std::uint64_t ordinal) noexcept {
  return ring.words[ordinal % AgreementRing::length];
}

/// Replaces the ordinal's word by `changed(word)`. Returns false if the ordinal has no word yet.
template <typename Changed>
bool change(AgreementRing& ring, std::uint64_t ordinal, std::uint32_t ranks, Changed changed) noexcept {
  std::atomic<std::uint64_t>& word = word_of(ring, ordinal);
  std::uint64_t bits = word.load();
  for (;;) {
    const Word before(bits);
    const bool is_there = bits != 0 && before.is_of(ordinal);
    if (!is_there && !before.is_free_for(ordinal, ranks)) return false;
    if (word.compare_exchange_weak(bits, changed(is_there ? before : Word::first_of(ordinal)).bits()))
      return true;
  }
}

}  // namespace

AgreementUse Agreement::decide(AgreementUse wanted) noexcept {
  auto before = static_cast<std::uint32_t>(AgreementUse::undecided);
  const bool is_first = ring_->use.compare_exchange_strong(before, static_cast<std::uint32_t>(wanted));
  return is_first ? wanted : static_cast<AgreementUse>(before);
}

bool Agreement::vote(std::uint64_t ordinal, Decision most, std::uint16_t signature) noexcept {
  constexpr std::uint16_t signature_mask = 0x3ff;
  return change(*ring_, ordinal, ranks_,
                [&](Word word) { return word.with_one_more(most, signature & signature_mask); });
}

std::optional<Decision> Agreement::outcome(std::uint64_t ordinal) noexcept {
  std::atomic<std::uint64_t>& word = word_of(*ring_, ordinal);
  std::uint64_t bits = word.load();
  for (;;) {
    const Word votes(bits);
    const bool is_there = bits != 0 && votes.is_of(ordinal);
    if (is_there && votes.is_refused()) return Decision::library;
    if (is_there && votes.agreeing() == ranks_)
      return votes.is_for_kernels() ? Decision::kernels : Decision::messages;
    if (ring_->given_up.load() < ordinal) return std::nullopt;
    // Without a word this rank has not voted and will not vote, so the ranks can never all agree.
    if (!is_there || word.compare_exchange_weak(bits, votes.refused().bits())) return Decision::library;
  }
}

bool Agreement::mark_seen(std::uint64_t ordinal) noexcept {
  // if this rank is the first to write the word, the collective was given up without one
  return change(*ring_, ordinal, ranks_,
                [](Word word) { return (word.agreeing() == 0 ? word.refused() : word).seen_once_more(); });
}

void Agreement::give_up(std::uint64_t ordinal) noexcept {
  std::uint64_t before = ring_->given_up.load();
  while (before < ordinal && !ring_->given_up.compare_exchange_weak(before, ordinal)) {
  }
}

void AgreementRing::continue_after(std::uint64_t ordinal, int ranks) noexcept {
  for (std::uint64_t back = 0; back < length && back < ordinal; ++back) {
    word_of(*this, ordinal - back)
        .store(Word::seen_by_all(ordinal - back, static_cast<std::uint64_t>(ranks)).bits());
  }
}

}  // namespace penstock::interpose
