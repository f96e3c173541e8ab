#include "interpose/record/file/lane.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <new>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

namespace {

constinit LaneRegistry registry;

// initial-exec, because the first access must not allocate; the library is loaded with the program.
[[gnu::tls_model("initial-exec")]] constinit thread_local Lane* this_threads_lane = nullptr;
[[gnu::tls_model("initial-exec")]] constinit thread_local trace::OpenCall* this_threads_open_call = nullptr;

constinit std::atomic<std::uint32_t> slots_taken{0};

void name_this_thread(std::uint64_t& id, char (&name)[16]) noexcept {
  id = static_cast<std::uint64_t>(gettid());
  prctl(PR_GET_NAME, name);  // 16 bytes with the zero
}

/// Says in a lane that another thread has used who goes on. Without space for it, the next record is dropped,
/// too, and counted.
void introduce_this_thread(Lane& lane) noexcept {
  trace::Thread thread{};
  name_this_thread(thread.thread_id, thread.name);
  thread.kind = trace::RecordKind::thread;
  static_cast<void>(lane.append(&thread));
}

struct ReleaseAtThreadExit {
  ~ReleaseAtThreadExit() {
    registry.release(*this_threads_lane);
    this_threads_lane = nullptr;
    this_threads_open_call = nullptr;
  }
};

}  // namespace

LaneRegistry& lanes() noexcept {
  return registry;
}

Lane* lane_of_this_thread() noexcept {
  if (this_threads_lane != nullptr) [[likely]] {
    return this_threads_lane;
  }
  this_threads_lane = registry.acquire();
  // A record written after this object's destruction (by a later thread_local destructor, or at exit in the
  // main thread) takes a lane that is not given back.
  if (this_threads_lane != nullptr) {
    if (this_threads_lane->written() != 0) introduce_this_thread(*this_threads_lane);
    static thread_local const ReleaseAtThreadExit release;
  }
  return this_threads_lane;
}

bool Lane::make_room() noexcept {
  if (next_ >= end_) return begin_block();
  recording().announce_need_of_block();
  stop_ = end_;
  return true;
}

bool Lane::begin_block() noexcept {
  // Early enough that the next block is ready in time, and late enough that a lane with few records causes
  // none.
  constexpr std::size_t announced_at = trace::block_bytes / 4;
  constexpr std::size_t room_for_one = trace::most_delta_bytes + sizeof(std::uint32_t);
  retire_block();
  ClaimedBlock block = recording().take_block();
  while (block.begin == nullptr && retire_oldest()) block = recording().take_block();
  if (block.begin == nullptr) return false;
  trace::BlockHeader header{};
  header.lane = number_;
  header.sequence = recording().file().next_sequence();
  header.ordinal = ordinal_++;
  name_this_thread(header.thread_id, header.thread_name);
  header.coding = coding_;
  header.kind = trace::RecordKind::block;
  commit(block.begin, &header);
  deltas_.begin();
  begin_ = block.begin;
  next_ = block.begin + trace::record_bytes;
  stop_ = block.begin + announced_at;
  end_ = block.begin + trace::block_bytes;
  if (coding_ == trace::BlockCoding::delta) end_ -= room_for_one - 1;
  return true;
}

void Lane::belongs_to_recorder() noexcept {
  is_recorders_.store(true, std::memory_order_relaxed);
  if (coding_ == trace::BlockCoding::plain) return;
  coding_ = trace::BlockCoding::plain;
  next_ = stop_ = end_;  // a block of another thread that has ended stays as it is
}

void Lane::retire_block() noexcept {
  if (begin_ == nullptr || keeps_all_ || !recording().retired().is_open()) return;
  held_back_blocks_[held_back_++] = begin_;
  begin_ = next_ = stop_ = end_ = nullptr;
  while (held_back_ > held_back_at_most_) retire_oldest();
}

bool Lane::retire_oldest() noexcept {
  if (held_back_ == 0) return false;
  std::byte* const oldest = held_back_blocks_[0];
  std::copy(held_back_blocks_.begin() + 1,
            held_back_blocks_.begin() + static_cast<std::ptrdiff_t>(held_back_), held_back_blocks_.begin());
  --held_back_;
  ++given_up_;
  recording().retired().retire(oldest);
  return true;
}

void Lane::take_open_call() noexcept {
  RecordingFile& file = recording().file();
  if (open_call_ == nullptr) {
    const std::uint32_t slot = slots_taken.fetch_add(1, std::memory_order_relaxed);
    if (slot >= trace::most_open_calls) {
      std::atomic_ref<std::uint32_t>(file.header().threads_unnoticed).fetch_add(1, std::memory_order_relaxed);
      return;
    }
    open_call_ = &file.open_call(slot);
  }
  name_this_thread(open_call_->thread_id, open_call_->thread_name);
}

trace::OpenCall& open_call() noexcept {
  if (this_threads_open_call == nullptr) [[unlikely]] {
    static thread_local trace::OpenCall unnoticed;
    Lane* const lane = lane_of_this_thread();
    if (lane != nullptr) lane->take_open_call();
    this_threads_open_call = lane == nullptr || lane->open_call() == nullptr ? &unnoticed : lane->open_call();
  }
  return *this_threads_open_call;
}

bool Lane::reserve(std::size_t records) noexcept {
  const auto left = static_cast<std::size_t>(end_ - next_) / trace::record_bytes;
  return left >= records || begin_block();
}

Lane* LaneRegistry::acquire() noexcept {
  for (Lane* lane = first_.load(std::memory_order_acquire); lane != nullptr; lane = lane->next_in_registry_) {
    bool held = false;
    if (lane->is_held_.compare_exchange_strong(held, true, std::memory_order_acquire)) return lane;
  }
  Lane* lane = new (std::nothrow) Lane(count_.fetch_add(1, std::memory_order_relaxed));
  if (lane == nullptr) return nullptr;
  lane->next_in_registry_ = first_.load(std::memory_order_relaxed);
  while (!first_.compare_exchange_weak(lane->next_in_registry_, lane, std::memory_order_release)) {
  }
  return lane;
}

std::uint64_t LaneRegistry::written_by_application() const noexcept {
  std::uint64_t total = 0;
  for (const Lane* lane = first_.load(std::memory_order_acquire); lane != nullptr;
       lane = lane->next_in_registry_) {
    if (!lane->is_recorders()) total += lane->written();
  }
  return total;
}

}  // namespace penstock::record
