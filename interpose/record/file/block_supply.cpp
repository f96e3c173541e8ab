#include "interpose/record/file/block_supply.hpp"

#include <algorithm>
#include <chrono>

#include "transports/host/background_thread.hpp"

namespace penstock::record {

namespace {

/// How exactly the time of a death is known. Four wake-ups a second are as many as CUPTI's thread has.
constexpr std::chrono::milliseconds life_interval{250};

}  // namespace

void BlockSupply::start() {
  needs_.emplace(0);
  thread_ = start_background_thread("penstock-blocks", [this] { prepare_blocks(); });
}

void BlockSupply::stop() noexcept {
  if (!thread_) return;
  stopping_.store(true, std::memory_order_relaxed);
  announce_need();
  thread_->join();
  thread_.reset();
}

ClaimedBlock BlockSupply::take() noexcept {
  if (std::byte* ready = take_ready()) return {ready, Refusal::none, 0};
  // The thread has not come to what was announced, and need not: each block that it makes ready is one less
  // that has records, where the oldest are overwritten.
  if (needs_ && needs_->try_acquire() && stopping_.load(std::memory_order_relaxed)) {
    needs_->release();  // it may have been stop()'s, which the thread waits for
  }
  const ClaimedBlock claimed = claim();
  if (claimed.begin != nullptr || !file_.belongs_to_this_process()) return claimed;
  // The thread, which a forked child does not have, may be preparing the last block that there is room for.
  preparing_.wait(true, std::memory_order_acquire);
  if (std::byte* last = take_ready()) return {last, Refusal::none, 0};
  return claimed;
}

ClaimedBlock BlockSupply::claim() noexcept {
  if (!file_.belongs_to_this_process()) return {nullptr, Refusal::not_ours, 0};
  if (std::byte* const needless = retired_.reuse_needless()) return {needless, Refusal::none, 0};
  const ClaimedBlock grown = file_.claim_block();
  if (grown.refusal != Refusal::limit && grown.refusal != Refusal::no_space) return grown;
  if (std::byte* const oldest = retired_.reuse_oldest()) return {oldest, Refusal::none, 0};
  return grown;
}

std::byte* BlockSupply::take_ready() noexcept {
  for (std::atomic<std::byte*>& ready : ready_) {
    if (ready.load(std::memory_order_relaxed) == nullptr) continue;
    if (std::byte* block = ready.exchange(nullptr, std::memory_order_acquire)) return block;
  }
  return nullptr;
}

void BlockSupply::announce_need() noexcept {
  if (needs_) needs_->release();
}

void BlockSupply::prepare_blocks() noexcept {
  while (true) {
    while (!needs_->try_acquire_for(life_interval)) file_.note_life();
    file_.note_life();
    if (stopping_.load(std::memory_order_relaxed)) return;
    // Only this thread fills places, so a free one stays free.
    auto* const free = std::find_if(ready_.begin(), ready_.end(), [](const std::atomic<std::byte*>& ready) {
      return ready.load(std::memory_order_relaxed) == nullptr;
    });
    if (free == ready_.end()) continue;
    // Visible to a thread that claims after this one, as claims are ordered among each other.
    preparing_.store(true, std::memory_order_relaxed);
    // A refusal is not reported here: the writer that needs the block will get it.
    free->store(claim().begin, std::memory_order_release);
    preparing_.store(false, std::memory_order_release);
    preparing_.notify_all();
  }
}

}  // namespace penstock::record
