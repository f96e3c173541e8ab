#include "transports/cuda/completion_flag.hpp"

#include <array>
#include <bit>
#include <utility>

#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports::cuda {
namespace {

constexpr std::uint32_t slots_per_word = 64;

/// A bit for each slot on loan.
constinit std::array<std::atomic<std::uint64_t>, kernels::slot_count / slots_per_word> on_loan{};

bool take_slot(std::uint32_t& slot) noexcept {
  for (std::uint32_t word = 0; word < on_loan.size(); ++word) {
    std::uint64_t taken = on_loan[word].load(std::memory_order_relaxed);
    while (~taken != 0) {
      const auto bit = static_cast<std::uint32_t>(std::countr_one(taken));
      taken = on_loan[word].fetch_or(std::uint64_t{1} << bit, std::memory_order_acquire);
      if ((taken >> bit & 1) != 0) continue;
      slot = word * slots_per_word + bit;
      return true;
    }
  }
  return false;
}

void give_back_slot(std::uint32_t slot) noexcept {
  on_loan[slot / slots_per_word].fetch_and(~(std::uint64_t{1} << slot % slots_per_word),
                                           std::memory_order_release);
}

}  // namespace

Status CompletionFlag::take(const ContextRef& context, CompletionFlag& flag) noexcept {
  const FlagPage* page = nullptr;
  if (Status made = context->flags(page); !made.ok()) return made;
  CompletionFlag taken;
  if (!take_slot(taken.slot_)) return {Code::out_of_memory, "completion flags"};
  taken.context_ = context;
  taken.word_ = page->word(taken.slot_);
  taken.device_word_ = page->device_word(taken.slot_);
  taken.lower();
  flag = std::move(taken);
  return {};
}

CompletionFlag::CompletionFlag(CompletionFlag&& other) noexcept {
  *this = std::move(other);
}

CompletionFlag& CompletionFlag::operator=(CompletionFlag&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(word_, other.word_);
  std::swap(device_word_, other.device_word_);
  std::swap(slot_, other.slot_);
  return *this;
}

CompletionFlag::~CompletionFlag() {
  if (context_ != nullptr) give_back_slot(slot_);
}

}  // namespace penstock::transports::cuda
