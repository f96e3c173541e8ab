#include "interpose/record/run/nccl_calls.hpp"

#include <unistd.h>

#include <array>
#include <atomic>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

namespace {

/// Counts the calls of each function on each communicator. All ranks of a communicator make the same
/// collective calls in the same order, so equal counts belong together.
class Ordinals {
 public:
  /// Counts a call. Returns 0 where that is not possible.
  std::uint32_t next(std::uint64_t communicator, std::uint32_t function) noexcept {
    if (communicator == 0 || function == trace::no_string) return 0;
    std::uint64_t key = (communicator ^ function) * 0x9e3779b97f4a7c15u;
    key ^= key >> 29;
    if (key == 0) return 0;
    for (std::size_t tried = 0; tried < places; ++tried) {
      Place& place = places_[(key + tried) % places];
      std::uint64_t found = place.key.load(std::memory_order_relaxed);
      if (found == 0 && place.key.compare_exchange_strong(found, key, std::memory_order_relaxed)) found = key;
      if (found == key) return place.calls.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return 0;
  }

 private:
  /// A program has a few communicators and functions; a search through all places takes some µs.
  static constexpr std::size_t places = 4096;
  struct Place {
    std::atomic<std::uint64_t> key{0};  ///< 0: free
    std::atomic<std::uint32_t> calls{0};
  };
  std::array<Place, places> places_{};
};

constinit Ordinals ordinals;

/// The calls that a thread is in: one may call another.
class OpenCalls {
 public:
  void push(const trace::NcclCall& call) noexcept {
    if (open_ == calls_.size()) {
      ++too_deep_;
    } else {
      calls_[open_++] = call;
    }
  }
  /// Returns null if the call is not known: it began before the recording, or others were too deep.
  trace::NcclCall* pop() noexcept {
    if (too_deep_ != 0) {
      --too_deep_;
      recording().leave_out_range();
      return nullptr;
    }
    return open_ == 0 ? nullptr : &calls_[--open_];
  }

 private:
  std::array<trace::NcclCall, 8> calls_{};
  std::size_t open_ = 0;
  std::size_t too_deep_ = 0;
};

constinit thread_local OpenCalls open_calls;

void take_in(const NcclPayload& payload, trace::NcclCall& call) noexcept {
  if (payload.communicator != 0) call.communicator = payload.communicator;
  if (payload.bytes) {
    call.bytes = *payload.bytes;
    call.knows_bytes = 1;
  }
  if (payload.peer >= 0) call.peer = payload.peer;
  if (payload.ranks > 0) call.ranks = payload.ranks;
  if (payload.rank >= 0) call.rank = payload.rank;
}

void say_that_there_are_calls() noexcept {
  static std::atomic<bool> is_said{false};
  if (!is_said.load(std::memory_order_relaxed) && !is_said.exchange(true, std::memory_order_relaxed))
    recording().add_features(trace::feature::nccl);
}

}  // namespace

void begin_nccl_call(std::uint32_t function, const NcclPayload& payload) noexcept {
  trace::NcclCall call{};
  call.begin_ns = now_ns();
  call.function = function;
  call.peer = -1;
  call.rank = -1;
  take_in(payload, call);
  call.ordinal = ordinals.next(call.communicator, function);
  open_calls.push(call);
}

void end_nccl_call(const NcclPayload& payload) noexcept {
  trace::NcclCall* const open = open_calls.pop();
  if (open == nullptr) return;
  take_in(payload, *open);
  open->end_ns = now_ns();
  open->thread_id = static_cast<std::uint32_t>(gettid());
  open->kind = trace::RecordKind::nccl_call;
  say_that_there_are_calls();
  if (open->ranks != 0) {  // it makes a communicator, which later calls refer to
    static_cast<void>(recording().write_rare(open, 1));
  } else {
    write(*open);
  }
}

}  // namespace penstock::record
