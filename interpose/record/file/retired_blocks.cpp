#include "interpose/record/file/retired_blocks.hpp"

#include <cstring>
#include <new>

namespace penstock::record {

bool RetiredBlocks::Queue::make(std::size_t blocks) noexcept {
  blocks_.reset(new (std::nothrow) std::byte*[blocks]);
  most_ = blocks_ ? blocks : 0;
  return blocks_ != nullptr;
}

void RetiredBlocks::Queue::push(std::byte* block) noexcept {
  if (count_ == most_) return;
  blocks_[(first_ + count_++) % most_] = block;
}

std::byte* RetiredBlocks::Queue::pop() noexcept {
  if (count_ == 0) return nullptr;
  std::byte* const block = blocks_[first_];
  first_ = (first_ + 1) % most_;
  --count_;
  return block;
}

bool RetiredBlocks::open(bool keeps_last, bool before_window) noexcept {
  const std::lock_guard lock(mutex_);
  const ClaimedBlock first = file_.claim_block();
  if (first.begin == nullptr || !needless_.make(file_.most_blocks()) || !filled_.make(file_.most_blocks()) ||
      !losses_.open(first.begin, file_.header().losses_generation))
    return false;
  keeps_last_ = keeps_last;
  before_window_ = before_window;
  is_open_.store(true, std::memory_order_release);
  return true;
}

void RetiredBlocks::begin_window() noexcept {
  const std::lock_guard lock(mutex_);
  before_window_ = false;
}

void RetiredBlocks::retire(std::byte* block) noexcept {
  if (!is_open()) return;
  const std::lock_guard lock(mutex_);
  if (before_window_) {
    needless_.push(block);
  } else if (keeps_last_) {
    filled_.push(block);
  }
}

std::byte* RetiredBlocks::reuse_needless() noexcept {
  if (!is_open()) return nullptr;
  const std::lock_guard lock(mutex_);
  return wiped(needless_.pop());
}

std::byte* RetiredBlocks::reuse_oldest() noexcept {
  if (!is_open()) return nullptr;
  const std::lock_guard lock(mutex_);
  return wiped(filled_.pop());
}

void RetiredBlocks::lose(const void* record) noexcept {
  const std::lock_guard lock(mutex_);
  losses_.lose(record);
}

/// The job may be killed at any moment. What a block loses is in the table before its header says that it has
/// none, and until then a reader finds in the table that the block is gone.
std::byte* RetiredBlocks::wiped(std::byte* block) noexcept {
  if (block == nullptr) return nullptr;
  losses_.lose_block(block);
  constexpr std::size_t kind = trace::record_bytes - 1;
  std::atomic_ref<std::byte>(block[kind]).store(std::byte{0}, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);  // a reader that sees new records sees no old header
  std::memset(block, 0, trace::block_bytes);
  return block;
}

}  // namespace penstock::record
