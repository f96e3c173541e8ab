// What the parts of the recorder share while a recording is open: the switch, the file, the lane for strings
// and other rare records, the header's features. Knows no record's meaning and no collector.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

#include "interpose/record/block_supply.hpp"
#include "interpose/record/lane.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/record/recording_file.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// One for the process; lives until it ends. Thread: any, unless said otherwise.
class Recording {
 public:
  void switch_on() noexcept { detail::is_on.store(true, std::memory_order_release); }
  void switch_off() noexcept { detail::is_on.store(false, std::memory_order_relaxed); }

  [[nodiscard]] RecordingFile& file() noexcept { return file_; }

  /// The first refusal is said on one line. Recording stays on, so that the header tells how much is missing
  /// and from when on; only in a forked child it is switched off.
  [[nodiscard]] ClaimedBlock take_block() noexcept;
  void announce_need_of_block() noexcept { blocks_.announce_need(); }
  [[nodiscard]] BlockSupply& blocks() noexcept { return blocks_; }

  /// Writes `count` records of 64 bytes that must lie in one block. For what is rare: strings, modules,
  /// notices.
  bool write_rare(const void* records, std::size_t count) noexcept;

  /// Counts a record for which there was no space, and notes the moment that it tells of. No system call
  /// where it tells of one.
  void drop(const void* record) noexcept;
  /// Counts what is not recorded for another reason, and says nothing of all else.
  void leave_out_range() noexcept { file_.add(file_.header().dropped_records, 1); }
  void add_features(std::uint32_t bits) noexcept;
  /// Adds to the header's note on why something is missing.
  void explain(std::string_view why) noexcept;

 private:
  void say_why_space_ended(const ClaimedBlock& block) noexcept;

  std::atomic<bool> space_ended_{false};
  RecordingFile file_;
  BlockSupply blocks_{file_};
  std::mutex rare_mutex_;
  Lane* rare_lane_ = nullptr;
  std::mutex note_mutex_;  ///< guards the header's features_note; innermost
};

[[nodiscard]] Recording& recording() noexcept;

/// Writes "penstock: …" to stderr in one piece. Keeps nothing.
void say(std::string_view text) noexcept;

/// Writes the notices that were said before the recording began.
void write_kept_notices() noexcept;

}  // namespace penstock::record
