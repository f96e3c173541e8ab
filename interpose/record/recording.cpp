#include "interpose/record/recording.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace penstock::record {

namespace {

/// Never destroyed: threads may be writing while the process exits.
union Forever {
  Recording recording;
  constexpr Forever() noexcept : recording() {}
  ~Forever() {}
};
constinit Forever forever;

}  // namespace

Recording& recording() noexcept {
  return forever.recording;
}

ClaimedBlock Recording::take_block() noexcept {
  ClaimedBlock block{nullptr, Refusal::limit, 0};
  if (!space_ended_.load(std::memory_order_relaxed)) {
    block = blocks_.take();
    if (block.begin != nullptr) return block;
    if (block.refusal == Refusal::not_ours && !file_.belongs_to_this_process()) {
      switch_off();  // a child made by a bare clone(): the file is the parent's, header and all
      return block;
    }
    if (!space_ended_.exchange(true, std::memory_order_relaxed)) say_why_space_ended(block);
  }
  drop(1);
  return block;
}

void Recording::say_why_space_ended(const ClaimedBlock& block) noexcept {
  char text[192];
  if (block.refusal == Refusal::limit) {
    std::snprintf(text, sizeof text,
                  "the recording has reached its limit (PENSTOCK_TRACE_LIMIT); later records are dropped");
  } else {
    switch_off();
    std::snprintf(text, sizeof text, "recording stops here: %s",
                  block.refusal == Refusal::no_space ? std::strerror(block.error)
                                                     : "the program closed the recording's descriptor");
  }
  say(text);
  explain(text);
}

bool Recording::write_rare(const void* records, std::size_t count) noexcept {
  const std::lock_guard lock(rare_mutex_);
  if (rare_lane_ == nullptr) {
    rare_lane_ = lanes().acquire();
    if (rare_lane_ == nullptr) return false;
    rare_lane_->belongs_to_recorder();
  }
  if (!rare_lane_->reserve(count)) return false;
  const auto* record = static_cast<const std::byte*>(records);
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

}  // namespace penstock::record
