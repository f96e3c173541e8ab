#include <utility>

#include "support.hpp"

using namespace simulated_gpu::test;

namespace {

class Streams : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    ASSERT_EQ(cuStreamCreate(&blocking_, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&other_, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&free_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  }
  void TearDown() override {
    gate_.open();
    for (CUstream stream : {blocking_, other_, free_}) EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
    WithContext::TearDown();
  }

  /// Queues something that takes no time; done as soon as the stream's order allows it.
  static void mark(CUstream stream) {
    ASSERT_EQ(cuLaunchHostFunc(
                  stream, [](void*) {}, nullptr),
              CUDA_SUCCESS);
  }

  CUstream blocking_ = nullptr;
  CUstream other_ = nullptr;
  CUstream free_ = nullptr;
  Gate gate_;
};

TEST_F(Streams, run_their_work_in_order) {
  static std::vector<int> order;
  order.clear();
  ASSERT_EQ(cuLaunchHostFunc(
                free_, [](void*) { order.push_back(1); }, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(
                free_, [](void*) { order.push_back(2); }, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST_F(Streams, do_not_wait_for_one_another) {
  gate_.close(blocking_);
  mark(other_);
  mark(free_);
  EXPECT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(blocking_), CUDA_ERROR_NOT_READY);
}

TEST_F(Streams, legacy_work_waits_for_blocking_streams_and_they_for_it) {
  gate_.close(blocking_);
  mark(CU_STREAM_LEGACY);
  mark(other_);
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(other_), CUDA_ERROR_NOT_READY);
  gate_.open();
  EXPECT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(blocking_), CUDA_SUCCESS);
}

TEST_F(Streams, non_blocking_ones_have_nothing_to_do_with_the_legacy_stream) {
  gate_.close(CU_STREAM_LEGACY);
  mark(free_);
  EXPECT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
}

TEST_F(Streams, the_per_thread_stream_is_a_blocking_one_of_each_thread) {
  gate_.close(CU_STREAM_PER_THREAD);
  std::thread([&] {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    mark(CU_STREAM_PER_THREAD);
    EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  }).join();
  mark(nullptr);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
}

TEST_F(Streams, a_destroyed_one_still_does_its_work_and_the_legacy_stream_waits_for_it) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  gate_.close(stream);
  ASSERT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  mark(nullptr);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  gate_.open();
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
}

TEST_F(Streams, host_functions_may_not_call_the_driver) {
  static CUresult result;
  ASSERT_EQ(cuLaunchHostFunc(
                free_, [](void*) { result = cuCtxSynchronize(); }, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(Streams, write_and_wait_for_words_of_mapped_memory) {
  void* memory = nullptr;
  ASSERT_EQ(cuMemHostAlloc(&memory, 64, CU_MEMHOSTALLOC_DEVICEMAP), CUDA_SUCCESS);
  auto& word = *static_cast<std::atomic<std::uint32_t>*>(memory);
  const auto address = reinterpret_cast<CUdeviceptr>(memory);
  ASSERT_EQ(cuStreamWaitValue32(free_, address, 5, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue32(free_, address + 4, 7, 0), CUDA_SUCCESS);
  word = 4;
  EXPECT_EQ(cuStreamQuery(free_), CUDA_ERROR_NOT_READY);
  word = 6;
  ASSERT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ((&word)[1], 7u);
  std::uint32_t unregistered = 0;
  EXPECT_EQ(cuStreamWriteValue32(free_, reinterpret_cast<CUdeviceptr>(&unregistered), 1, 0),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(memory), CUDA_SUCCESS);
}

TEST_F(Streams, wait_for_events_of_other_streams) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  gate_.close(blocking_);
  ASSERT_EQ(cuEventRecord(event, blocking_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(free_, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(free_), CUDA_ERROR_NOT_READY);
  gate_.open();
  EXPECT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(Streams, an_event_recorded_again_no_longer_stands_for_the_first_time) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  gate_.close(blocking_);
  ASSERT_EQ(cuEventRecord(event, blocking_), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, free_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(blocking_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(Streams, events_measure_the_time_between_them) {
  CUevent events[2] = {};
  for (CUevent& event : events) ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, events[0], events[1]), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cuEventRecord(events[0], free_), CUDA_SUCCESS);
  gate_.close(free_);
  ASSERT_EQ(cuEventRecord(events[1], free_), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, events[0], events[1]), CUDA_ERROR_NOT_READY);
  gate_.open();
  ASSERT_EQ(cuEventSynchronize(events[1]), CUDA_SUCCESS);
  ASSERT_EQ(cuEventElapsedTime(&milliseconds, events[0], events[1]), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  for (CUevent event : events) EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

TEST_F(Streams, a_context_synchronises_all_of_them) {
  static std::atomic<int> done;
  done = 0;
  for (CUstream stream : {blocking_, other_, free_}) {
    ASSERT_EQ(cuLaunchHostFunc(
                  stream, [](void*) { ++done; }, nullptr),
              CUDA_SUCCESS);
  }
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(done, 3);
}

TEST_F(Streams, many_threads_may_use_one_stream) {
  static std::atomic<int> done;
  done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        ASSERT_EQ(cuLaunchHostFunc(
                      free_, [](void*) { ++done; }, nullptr),
                  CUDA_SUCCESS);
        if (k % 50 == 0) {
          ASSERT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(cuStreamSynchronize(free_), CUDA_SUCCESS);
  EXPECT_EQ(done, 800);
}

TEST_F(Streams, a_captured_one_does_nothing_until_its_graph_is_launched_and_then_each_time) {
  static std::atomic<int> done;
  done = 0;
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(blocking_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(
                blocking_, [](void*) { ++done; }, nullptr),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(blocking_, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&executable, graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(blocking_), CUDA_SUCCESS);
  EXPECT_EQ(done, 0);
  for (int times = 1; times <= 2; ++times) {
    ASSERT_EQ(cuGraphLaunch(executable, other_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(other_), CUDA_SUCCESS);
    EXPECT_EQ(done, times);
  }
  EXPECT_EQ(cuGraphExecDestroy(executable), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

/// What `call` returns beside a capture of `captured`, by a thread of that mode; and what the capture's end
/// does.
template <typename Call>
std::pair<CUresult, CUresult> beside_capture(CUstream captured, CUstreamCaptureMode thread, Call call) {
  EXPECT_EQ(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&thread), CUDA_SUCCESS);
  const CUresult result = call();
  EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&thread), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  const CUresult end = cuStreamEndCapture(captured, &graph);
  if (end == CUDA_SUCCESS) {
    EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  }
  return {result, end};
}

TEST_F(Streams, a_capture_is_spoilt_by_what_spoils_it_on_a_gpu) {
  using Results = std::pair<CUresult, CUresult>;
  constexpr auto strict = CU_STREAM_CAPTURE_MODE_GLOBAL;
  constexpr auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  constexpr Results fine{CUDA_SUCCESS, CUDA_SUCCESS};
  constexpr Results implicit{CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED};
  constexpr Results unsupported{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED};
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  const auto query_legacy = [] { return cuStreamQuery(CU_STREAM_LEGACY); };
  const auto ask_event = [&] { return cuEventQuery(event); };
  EXPECT_EQ(beside_capture(blocking_, relaxed, query_legacy), implicit);
  EXPECT_EQ(beside_capture(blocking_, relaxed, [&] { return cuEventRecord(event, CU_STREAM_LEGACY); }),
            implicit);
  EXPECT_EQ(beside_capture(blocking_, relaxed, [] { return cuCtxSynchronize(); }), unsupported);
  EXPECT_EQ(beside_capture(blocking_, relaxed, [&] { return cuEventRecord(event, other_); }), fine);
  EXPECT_EQ(beside_capture(blocking_, relaxed, [&] { return cuStreamSynchronize(other_); }), fine);
  EXPECT_EQ(beside_capture(blocking_, relaxed, ask_event), fine);
  EXPECT_EQ(beside_capture(blocking_, strict, ask_event), unsupported);
  EXPECT_EQ(beside_capture(free_, relaxed, query_legacy), fine);
  CUstreamCaptureStatus status{};
  const auto look = [&] { return cuStreamIsCapturing(CU_STREAM_LEGACY, &status); };
  EXPECT_EQ(beside_capture(blocking_, relaxed, look),
            Results(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CUDA_SUCCESS));
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
}

}  // namespace
