// Blocks of the file that their lanes have filled, and which of them may be overwritten: of a recording that
// keeps its newest records the oldest blocks, and those that were filled before its window began. Takes
// account of what is lost thereby. Knows no lanes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "interpose/record/file/loss_table.hpp"
#include "interpose/record/file/recording_file.hpp"

namespace penstock::record {

/// Thread: any, after open(); a lock is held for the 10 to 40 us that a block takes to be overwritten, mostly
/// by the thread that makes blocks ready.
class RetiredBlocks {
 public:
  explicit constexpr RetiredBlocks(RecordingFile& file) noexcept : file_(file) {}

  /// Takes the file's first block for the table of losses. Until then nothing is ever overwritten.
  /// `keeps_last`: where space ends, the oldest blocks are; `before_window`: what is filled until
  /// begin_window().
  [[nodiscard]] bool open(bool keeps_last, bool before_window) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return is_open_.load(std::memory_order_acquire); }
  /// Returns true if there will be a block as soon as a lane has filled one.
  [[nodiscard]] bool overwrites() const noexcept {
    return keeps_last_ || before_window_.load(std::memory_order_relaxed);
  }
  void begin_window() noexcept;

  /// Takes a block in which its lane writes no more.
  void retire(std::byte* block) noexcept;
  /// Returns a block of which nothing need be kept, wiped out; null: there is none.
  [[nodiscard]] std::byte* reuse_needless() noexcept;
  /// Returns the oldest block, wiped out, if the newest records are kept; null: there is none.
  [[nodiscard]] std::byte* reuse_oldest() noexcept;
  /// Takes account of a record for which there was no block.
  void lose(const void* record) noexcept;

 private:
  /// First in, first out. Has room for all blocks of the file.
  class Queue {
   public:
    [[nodiscard]] bool make(std::size_t blocks) noexcept;
    void push(std::byte* block) noexcept;
    [[nodiscard]] std::byte* pop() noexcept;

   private:
    std::unique_ptr<std::byte*[]> blocks_;
    std::size_t most_ = 0;
    std::size_t first_ = 0;
    std::size_t count_ = 0;
  };

  [[nodiscard]] std::byte* wiped(std::byte* block) noexcept;

  RecordingFile& file_;
  std::atomic<bool> is_open_{false};
  bool keeps_last_ = false;
  std::mutex mutex_;
  std::atomic<bool> before_window_{false};
  Queue needless_;
  Queue filled_;
  LossTable losses_;
};

}  // namespace penstock::record
