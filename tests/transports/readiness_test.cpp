#include "transports/stream_order/readiness.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "tests/transports/busy_stream.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/host/host_mapping.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/ready_flags.hpp"

namespace penstock::transports::test {
namespace {

using Flag = std::atomic<std::uint32_t>;

/// Long enough for a flag that comes too early to be seen; a slow machine can only make the test pass.
void give_it_time() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void wait_until_set(const Flag& flag) {
  while (flag.load(std::memory_order_acquire) == 0) std::this_thread::yield();
}

BufferView whole(const GpuMemory& memory) {
  return {inspect(memory.data()), Layout::contiguous(memory.bytes())};
}

class Readiness : public testing::Test {
 protected:
  void SetUp() override { use_device(0); }
  void TearDown() override {
    set_stream_order(StreamOrder::legacy_stream);
    set_single_threaded(false);
  }
  const GpuMemory memory_{BufferKind::device, 4096};
  const BufferView place_ = whole(memory_);
};

TEST_F(Readiness, of_several_in_a_row_is_signalled_when_they_are_settled) {
  Flag first{0};
  Flag second{0};
  signal_with_next(place_, &first);
  signal_with_next(place_, &second);
  EXPECT_TRUE(has_marked_signals());
  settle_signals();
  EXPECT_FALSE(has_marked_signals());
  wait_until_set(first);
  wait_until_set(second);
}

TEST_F(Readiness, of_several_in_a_row_waits_for_what_was_queued_before_each) {
  Flag before{0};
  Flag after{0};
  Flag much_later{0};
  signal_with_next(place_, &before);
  BusyStream busy(CU_STREAM_LEGACY);
  signal_with_next(place_, &after);
  settle_signals();
  wait_until_set(before);
  give_it_time();
  EXPECT_EQ(after.load(), 0u);
  // the driver sets it, whoever comes next
  signal_with_next(place_, &much_later);
  busy.release();
  wait_until_set(after);
  settle_signals();
  wait_until_set(much_later);
}

TEST_F(Readiness, of_many_in_a_row_is_signalled_by_and_by) {
  std::array<Flag, 20> flags{};
  for (Flag& flag : flags) signal_with_next(place_, &flag);
  for (std::size_t i = 0; i < 4; ++i) wait_until_set(flags[i]);
  settle_signals();
  for (const Flag& flag : flags) wait_until_set(flag);
}

/// The application may never call again.
TEST_F(Readiness, of_one_that_nothing_follows_is_signalled_all_the_same) {
  for (int round = 0; round < 3; ++round) {
    Flag left_alone{0};
    Flag waiting{0};
    signal_with_next(place_, &left_alone);
    BusyStream busy(CU_STREAM_LEGACY);
    signal_with_next(place_, &waiting);
    wait_until_set(left_alone);
    EXPECT_EQ(waiting.load(), 0u);
    busy.release();
    wait_until_set(waiting);
    if (round == 1) forget_flag_memory();
    settle_signals();
    EXPECT_FALSE(has_marked_signals());
  }
}

TEST_F(Readiness, of_one_that_is_forgotten_is_not_signalled) {
  Flag kept{0};
  Flag forgotten{0};
  signal_with_next(place_, &forgotten);
  signal_with_next(place_, &kept);
  forget_signal(&forgotten);
  settle_signals();
  wait_until_set(kept);
  give_it_time();
  EXPECT_EQ(forgotten.load(), 0u);
}

TEST_F(Readiness, of_host_memory_or_in_another_order_is_not_marked) {
  const GpuMemory pinned(BufferKind::pinned, 4096);
  Flag ready{0};
  signal_with_next(whole(pinned), &ready);
  EXPECT_EQ(ready.load(), 1u);
  for (const StreamOrder order : {StreamOrder::none, StreamOrder::device}) {
    set_stream_order(order);
    ready = 0;
    signal_with_next(place_, &ready);
    EXPECT_EQ(ready.load(), 1u);
  }
}

TEST_F(Readiness, is_signalled_at_once_when_nothing_was_queued) {
  Flag ready{0};
  signal_when_ready(place_, &ready);
  EXPECT_EQ(ready.load(), 1u);
}

TEST_F(Readiness, waits_for_the_legacy_stream_without_keeping_the_caller) {
  Flag ready{0};
  BusyStream busy(CU_STREAM_LEGACY);
  signal_when_ready(place_, &ready);
  give_it_time();
  EXPECT_EQ(ready.load(), 0u);
  busy.release();
  wait_until_set(ready);
}

TEST_F(Readiness, waits_for_blocking_streams_as_the_legacy_stream_does) {
  const OwnStream blocking(CU_STREAM_DEFAULT);
  Flag ready{0};
  BusyStream busy(blocking.handle());
  signal_when_ready(place_, &ready);
  give_it_time();
  EXPECT_EQ(ready.load(), 0u);
  busy.release();
  wait_until_set(ready);
}

TEST_F(Readiness, does_not_wait_for_non_blocking_streams) {
  const OwnStream other(CU_STREAM_NON_BLOCKING);
  Flag ready{0};
  BusyStream busy(other.handle());
  signal_when_ready(place_, &ready);
  wait_until_set(ready);
}

TEST_F(Readiness, does_not_wait_for_the_legacy_stream_of_another_device) {
  if (device_count() < 2) GTEST_SKIP() << "one GPU only";
  use_device(1);
  Flag ready{0};
  BusyStream busy(CU_STREAM_LEGACY);
  signal_when_ready(place_, &ready);
  wait_until_set(ready);
}

TEST_F(Readiness, of_host_memory_is_at_once) {
  const GpuMemory pinned(BufferKind::pinned, 64);
  BusyStream busy(CU_STREAM_LEGACY);
  Flag ready{0};
  signal_when_ready(whole(pinned), &ready);
  EXPECT_EQ(ready.load(), 1u);
}

TEST_F(Readiness, is_at_once_when_the_application_synchronises_itself) {
  set_stream_order(StreamOrder::none);
  BusyStream busy(CU_STREAM_LEGACY);
  Flag ready{0};
  signal_when_ready(place_, &ready);
  EXPECT_EQ(ready.load(), 1u);
}

TEST_F(Readiness, waits_for_all_streams_in_device_order) {
  set_stream_order(StreamOrder::device);
  const OwnStream other(CU_STREAM_NON_BLOCKING);
  BusyStream busy(other.handle());
  Flag ready{0};
  auto signalled = std::async(std::launch::async, [&] { signal_when_ready(place_, &ready); });
  give_it_time();
  EXPECT_EQ(ready.load(), 0u);
  busy.release();
  signalled.get();
  EXPECT_EQ(ready.load(), 1u);
}

/// Captures a blocking stream of the current context while it lives.
class CapturedStream {
 public:
  explicit CapturedStream(CUstreamCaptureMode mode) {
    REQUIRE_CUDA(cuStreamBeginCapture(stream_.handle(), mode));
  }
  ~CapturedStream() { EXPECT_TRUE(end()) << "the capture was spoilt"; }
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;

 private:
  [[nodiscard]] bool end() {
    CUgraph graph = nullptr;
    return cuStreamEndCapture(stream_.handle(), &graph) == CUDA_SUCCESS &&
           cuGraphDestroy(graph) == CUDA_SUCCESS;
  }

  OwnStream stream_{CU_STREAM_DEFAULT};
};

TEST_F(Readiness, waits_for_the_legacy_stream_beside_a_capture_and_does_not_spoil_it) {
  for (const StreamOrder order : {StreamOrder::legacy_stream, StreamOrder::device}) {
    for (const CUstreamCaptureMode mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                           CU_STREAM_CAPTURE_MODE_RELAXED}) {
      set_stream_order(order);
      Flag ready{0};
      BufferView place = place_;
      BusyStream busy(CU_STREAM_LEGACY);
      {
        const CapturedStream captured(mode);
        place.handed_over_ns = steady_now_ns();
        signal_when_ready(place, &ready);
        give_it_time();
        EXPECT_EQ(ready.load(), 0u);
        EXPECT_FALSE(is_idle(place));
        busy.release();
        wait_until_set(ready);
        while (!is_idle(place)) std::this_thread::yield();
      }
    }
  }
}

TEST_F(Readiness, beside_a_capture_is_told_when_nothing_was_queued) {
  const CapturedStream captured(CU_STREAM_CAPTURE_MODE_GLOBAL);
  BufferView place = place_;
  place.handed_over_ns = steady_now_ns();
  while (!is_idle(place)) std::this_thread::yield();
  place.handed_over_ns = steady_now_ns();
  while (!is_idle(place)) std::this_thread::yield();
}

TEST_F(Readiness, of_pool_memory_waits_for_the_devices_primary_context) {
  const GpuMemory pool(BufferKind::async_pool, 4096);
  Flag ready{0};
  BusyStream busy(CU_STREAM_LEGACY);
  signal_when_ready(whole(pool), &ready);
  give_it_time();
  EXPECT_EQ(ready.load(), 0u);
  busy.release();
  wait_until_set(ready);
}

/// The primary context has nothing to do.
TEST_F(Readiness, of_pool_memory_waits_for_the_context_that_the_thread_uses) {
  CUcontext own = nullptr;
  REQUIRE_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
  {
    const GpuMemory pool(BufferKind::async_pool, 4096);
    const BusyStream busy(CU_STREAM_LEGACY);
    EXPECT_FALSE(is_idle(whole(pool)));
  }
  REQUIRE_CUDA(cuCtxDestroy(own));
  use_device(0);
}

TEST_F(Readiness, of_many_messages_is_signalled_for_each) {
  std::vector<Flag> flags(300);
  BusyStream busy(CU_STREAM_LEGACY);
  for (Flag& flag : flags) signal_when_ready(place_, &flag);
  busy.release();
  for (const Flag& flag : flags) wait_until_set(flag);
}

/// The GPU writes the flag itself.
TEST_F(Readiness, is_signalled_in_flag_memory_once_the_work_is_done) {
  HostMapping mapping(1u << 16, -1);
  set_flag_memory(mapping.address(), mapping.bytes());
  Flag& first = *new (mapping.address()) Flag{0};
  Flag& last = *new (mapping.address() + mapping.bytes() - sizeof(Flag)) Flag{0};
  Flag outside{0};
  {
    BusyStream busy(CU_STREAM_LEGACY);
    for (Flag* flag : {&first, &last, &outside}) signal_when_ready(place_, flag);
    give_it_time();
    EXPECT_EQ(first.load() + last.load() + outside.load(), 0u);
    busy.release();
    for (const Flag* flag : {&first, &last, &outside}) wait_until_set(*flag);
  }
  forget_flag_memory();
}

TEST_F(Readiness, a_place_is_settled_once_the_work_before_it_is_done) {
  BufferView place{place_.buffer, place_.layout, steady_now_ns()};
  EXPECT_TRUE(is_idle(place));
  BusyStream busy(CU_STREAM_LEGACY);
  place.handed_over_ns = steady_now_ns();
  EXPECT_FALSE(is_idle(place));
  busy.release();
  while (!is_idle(place)) std::this_thread::yield();
}

TEST_F(Readiness, a_place_stays_settled_whatever_is_queued_later) {
  const BufferView place{place_.buffer, place_.layout, steady_now_ns()};
  EXPECT_TRUE(is_idle(place));
  BusyStream busy(CU_STREAM_LEGACY);
  EXPECT_TRUE(is_idle(place));
}

TEST_F(Readiness, work_queued_between_two_calls_of_a_single_thread_is_seen) {
  set_single_threaded(true);
  BufferView place = place_;
  for (int round = 0; round < 100; ++round) {
    {
      const InCall call;
      place.handed_over_ns = steady_now_ns();
      ASSERT_TRUE(is_idle(place));
    }
    BusyStream busy(CU_STREAM_LEGACY);
    const InCall call;
    place.handed_over_ns = steady_now_ns();
    ASSERT_FALSE(is_idle(place)) << "round " << round;
  }
}

/// A wait for an event is queued in far less time than a kernel, so how soon the next call follows says
/// nothing.
TEST_F(Readiness, a_wait_queued_between_two_calls_of_a_single_thread_is_seen) {
  set_single_threaded(true);
  const OwnStream other(CU_STREAM_NON_BLOCKING);
  BufferView place = place_;
  for (int round = 0; round < 100; ++round) {
    CUevent pending = nullptr;
    REQUIRE_CUDA(cuEventCreate(&pending, CU_EVENT_DISABLE_TIMING));
    BusyStream busy(other.handle());
    REQUIRE_CUDA(cuEventRecord(pending, other.handle()));
    {
      const InCall call;
      place.handed_over_ns = time_of_call_ns();
      ASSERT_TRUE(is_idle(place));
    }
    cuStreamWaitEvent(CU_STREAM_LEGACY, pending, CU_EVENT_WAIT_DEFAULT);
    {
      const InCall call;
      place.handed_over_ns = time_of_call_ns();
      ASSERT_FALSE(is_idle(place)) << "round " << round;
    }
    busy.release();
    REQUIRE_CUDA(cuStreamSynchronize(CU_STREAM_LEGACY));
    REQUIRE_CUDA(cuEventDestroy(pending));
  }
}

TEST_F(Readiness, within_one_call_the_driver_is_asked_once) {
  const InCall call;
  BufferView place = place_;
  place.handed_over_ns = time_of_call_ns();
  EXPECT_TRUE(is_idle(place));
  BusyStream busy(CU_STREAM_LEGACY);  // as another thread might, which is not ordered before this call
  place.handed_over_ns = time_of_call_ns();
  EXPECT_TRUE(is_idle(place));
  Flag ready{0};
  signal_when_ready(place, &ready);
  EXPECT_EQ(ready.load(), 1u);
}

TEST_F(Readiness, health_is_good_while_work_runs_and_lost_with_the_context) {
  CUcontext own = nullptr;
  REQUIRE_CUDA(cuCtxCreate(&own, nullptr, 0, 0));
  CUdeviceptr address = 0;
  REQUIRE_CUDA(cuMemAlloc(&address, 64));
  const BufferView place{inspect(reinterpret_cast<const void*>(address)), Layout::contiguous(64)};
  {
    const BusyStream busy(CU_STREAM_LEGACY);
    EXPECT_TRUE(health_of(place).ok());
  }
  REQUIRE_CUDA(cuCtxDestroy(own));
  EXPECT_EQ(health_of(place).code(), Code::cuda_failed);
  use_device(0);
}

TEST_F(Readiness, leaves_the_threads_current_context_as_it_was) {
  const int other_device = device_count() - 1;
  use_device(other_device);
  CUcontext before = nullptr;
  REQUIRE_CUDA(cuCtxGetCurrent(&before));
  Flag ready{0};
  signal_when_ready(place_, &ready);
  CUcontext after = nullptr;
  REQUIRE_CUDA(cuCtxGetCurrent(&after));
  EXPECT_EQ(after, before);
}

TEST_F(Readiness, a_download_waits_for_the_legacy_stream) {
  std::vector<std::uint8_t> host(memory_.bytes());
  const OwnStream stream(CU_STREAM_DEFAULT);
  BusyStream busy(stream.handle());
  REQUIRE_CUDA(
      cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(memory_.data()), 7, memory_.bytes(), stream.handle()));
  auto downloaded = std::async(std::launch::async, [&] { return download(host.data(), place_); });
  give_it_time();
  busy.release();
  EXPECT_TRUE(downloaded.get().ok());
  EXPECT_EQ(host, std::vector<std::uint8_t>(memory_.bytes(), 7));
}

}  // namespace
}  // namespace penstock::transports::test
