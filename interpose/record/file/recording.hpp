// Holds what the parts of the recorder share while a recording is open: the switch, the file, the lane for
// strings and other rare records, the header's features. Knows no record's meaning and no collector.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "interpose/record/file/block_supply.hpp"
#include "interpose/record/file/lane.hpp"
#include "interpose/record/file/recording_file.hpp"
#include "interpose/record/file/retired_blocks.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// There is one in the process; it lives until the process ends. Thread: any, unless stated otherwise.
class Recording {
 public:
  void switch_on() noexcept {
    detail::takes_records.store(true, std::memory_order_relaxed);
    detail::is_on.store(true, std::memory_order_release);
  }
  void switch_off() noexcept {
    detail::is_on.store(false, std::memory_order_relaxed);
    detail::takes_records.store(false, std::memory_order_relaxed);
  }

  /// From now on records stay.
  void begin_window(std::uint64_t at_ns) noexcept;
  /// From now on no thread's records are taken. Calls in progress are still noted, names still written.
  void end_window(std::uint64_t at_ns) noexcept;
  /// Returns true for what the GPU did after the window, which it tells later.
  [[nodiscard]] bool is_behind_window(std::uint64_t begin_ns) noexcept {
    const std::uint64_t end_ns =
        std::atomic_ref<std::uint64_t>(file_.header().window_end_ns).load(std::memory_order_relaxed);
    return end_ns != 0 && begin_ns >= end_ns;
  }

  [[nodiscard]] RecordingFile& file() noexcept { return file_; }

  /// Prints one line at the first refusal. Recording stays on, so that the header counts what is missing and
  /// has the time from which on; only a forked child switches it off.
  [[nodiscard]] ClaimedBlock take_block() noexcept;
  [[nodiscard]] RetiredBlocks& retired() noexcept { return retired_; }
  void announce_need_of_block() noexcept { blocks_.announce_need(); }
  [[nodiscard]] BlockSupply& blocks() noexcept { return blocks_; }

  /// Writes `count` records of 64 bytes into one block. For rare records: strings, modules, notices.
  bool write_rare(const void* records, std::size_t count) noexcept;

  /// Counts a record for which there was no space, and notes its time. Makes no system call if the record has
  /// a time, but may wait for a lock where records are overwritten.
  void drop(const void* record) noexcept;
  /// Counts a range that is not recorded for another reason; other records are still complete.
  void leave_out_range() noexcept { file_.add(file_.header().dropped_records, 1); }
  void add_features(std::uint32_t bits) noexcept;
  /// Adds a reason to the header's note on what is missing.
  void explain(std::string_view why) noexcept;

 private:
  void say_why_space_ended(const ClaimedBlock& block) noexcept;

  std::atomic<bool> space_ended_{false};
  RecordingFile file_;
  RetiredBlocks retired_{file_};
  BlockSupply blocks_{file_, retired_};
  std::mutex rare_mutex_;
  Lane* rare_lane_ = nullptr;
  std::mutex note_mutex_;  ///< guards the header's features_note; innermost
};

[[nodiscard]] Recording& recording() noexcept;

/// Writes "penstock: …" to stderr in one piece and on one line, and does not record it.
void say(std::string_view text) noexcept;

/// Records what is known of the run (trace::Fact); nothing if `value` is empty. Thread: any.
void write_fact(std::string_view name, std::string_view value) noexcept;

/// Records the notices that were printed before the recording began.
void write_kept_notices() noexcept;

}  // namespace penstock::record
