#include "interpose/record/file/recording.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "interpose/record/file/record_times.hpp"

namespace penstock::record {

namespace {

/// Never destroyed, as threads may write while the process exits.
union Forever {
  Recording recording;
  constexpr Forever() noexcept : recording() {}
  ~Forever() {}
};
constinit Forever forever;

/// Returns the time from which on something is unknown if the record is missing. For a message, an operation
/// or a range this is its end: what is in flight when the recording ends is never recorded. For a record
/// without a time, such as a name, it is now.
std::uint64_t is_missed_from_ns(const void* record) noexcept {
  const RecordTimes times = times_of(record);
  switch (times.kind) {
    case trace::RecordKind::message_half:
    case trace::RecordKind::collective_operation:
    case trace::RecordKind::range:
      return times.end_ns;
    default:
      return times.is_timed ? times.begin_ns : now_ns();
  }
}

}  // namespace

Recording& recording() noexcept {
  return forever.recording;
}

void Recording::begin_window(std::uint64_t at_ns) noexcept {
  std::atomic_ref<std::uint64_t>(file_.header().window_begin_ns).store(at_ns, std::memory_order_relaxed);
  retired_.begin_window();
}

void Recording::end_window(std::uint64_t at_ns) noexcept {
  std::atomic_ref<std::uint64_t>(file_.header().window_end_ns).store(at_ns, std::memory_order_relaxed);
  RecordingFile::lower(file_.header().missing_from_ns, at_ns);
  detail::takes_records.store(false, std::memory_order_relaxed);
}

ClaimedBlock Recording::take_block() noexcept {
  ClaimedBlock block{nullptr, Refusal::limit, 0};
  if (!space_ended_.load(std::memory_order_relaxed)) {
    block = blocks_.take();
    if (block.begin != nullptr) return block;
    if (block.refusal == Refusal::not_ours && !file_.belongs_to_this_process()) {
      switch_off();  // a child of a bare clone(): the file and its header are the parent's
      return block;
    }
    if (!retired_.overwrites() || block.refusal == Refusal::not_ours) {
      if (!space_ended_.exchange(true, std::memory_order_relaxed)) say_why_space_ended(block);
    }
  }
  return block;
}

void Recording::drop(const void* record) noexcept {
  if (!is_on()) return;  // in a forked child, as the file is the parent's
  trace::FileHeader& header = file_.header();
  if (retired_.overwrites() && times_of(record).is_timed && !space_ended_.load(std::memory_order_relaxed)) {
    retired_.lose(record);
    return;
  }
  RecordingFile::add(header.dropped_records, 1);
  RecordingFile::lower(header.missing_from_ns, is_missed_from_ns(record));
}

void Recording::say_why_space_ended(const ClaimedBlock& block) noexcept {
  char text[192];
  if (block.refusal == Refusal::limit) {
    std::snprintf(text, sizeof text,
                  "the recording has reached its limit (PENSTOCK_TRACE_LIMIT); later records are dropped");
  } else {
    std::snprintf(text, sizeof text, "recording stops here: %s",
                  block.refusal == Refusal::no_space ? std::strerror(block.error)
                                                     : "the program closed the recording's descriptor");
  }
  say(text);
  explain(text);
}

bool Recording::write_rare(const void* records, std::size_t count) noexcept {
  const std::lock_guard lock(rare_mutex_);
  const auto* record = static_cast<const std::byte*>(records);
  if (rare_lane_ == nullptr) {
    rare_lane_ = lanes().acquire();
    if (rare_lane_ == nullptr) return false;
    rare_lane_->belongs_to_recorder();
    rare_lane_->keep_all();
  }
  if (!rare_lane_->reserve(count)) {
    for (std::size_t i = 0; i < count; ++i) drop(record + i * trace::record_bytes);
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) rare_lane_->append(record + i * trace::record_bytes);
  return true;
}

void Recording::add_features(std::uint32_t bits) noexcept {
  std::atomic_ref<std::uint32_t>(file_.header().features).fetch_or(bits, std::memory_order_relaxed);
}

void Recording::explain(std::string_view why) noexcept {
  const std::lock_guard lock(note_mutex_);
  auto& note = file_.header().features_note;
  std::size_t used = strnlen(note, sizeof note);
  const auto put = [&](std::string_view text) {
    const std::size_t taken = std::min(text.size(), sizeof note - 1 - used);
    std::memcpy(note + used, text.data(), taken);
    used += taken;
  };
  if (used != 0) put("; ");
  put(why);
}

void write_fact(std::string_view name, std::string_view value) noexcept {
  if (value.empty()) return;
  trace::Fact fact{};
  fact.name = intern(name);
  fact.value = intern(value);
  fact.kind = trace::RecordKind::fact;
  if (is_on()) static_cast<void>(recording().write_rare(&fact, 1));
}

}  // namespace penstock::record
