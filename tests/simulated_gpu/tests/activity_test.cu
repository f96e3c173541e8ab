// The records that a tool gets through CUPTI. One collection for the whole program, as CUPTI has it.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace activity_test {

__global__ void named_kernel(int* value) {
  *value = static_cast<int>(gridDim.x);
}

}  // namespace activity_test

namespace {

constexpr std::size_t buffer_bytes = 4096;

/// Buffers that CUPTI has given back.
struct Delivered {
  std::mutex mutex;
  std::vector<std::vector<unsigned char>> buffers;
};
Delivered delivered;
bool refuse_buffers = false;

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = refuse_buffers ? nullptr : static_cast<std::uint8_t*>(std::aligned_alloc(8, buffer_bytes));
  *bytes = refuse_buffers ? 0 : buffer_bytes;
  *most_records = 0;
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  const std::scoped_lock lock(delivered.mutex);
  delivered.buffers.emplace_back(buffer, buffer + valid_bytes);
  std::free(buffer);
}

constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY,
                                        CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        CUPTI_ACTIVITY_KIND_MEMSET,
                                        CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                        CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                        CUPTI_ACTIVITY_KIND_DRIVER};

class Activity : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory_, bytes_), cudaSuccess);
    ASSERT_EQ(cuptiActivityRegisterTimestampCallback(monotonic_ns), CUPTI_SUCCESS);
    ASSERT_EQ(cuptiActivityRegisterCallbacks(request, complete), CUPTI_SUCCESS);
    for (const auto kind : kinds) ASSERT_EQ(cuptiActivityEnable(kind), CUPTI_SUCCESS);
  }
  void TearDown() override {
    for (const auto kind : kinds) EXPECT_EQ(cuptiActivityDisable(kind), CUPTI_SUCCESS);
    EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
    EXPECT_EQ(cudaFree(memory_), cudaSuccess);
    delivered.buffers.clear();
  }

  /// All records of that kind that are finished by now.
  template <typename Record>
  std::vector<Record> records(CUpti_ActivityKind kind) {
    EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
    const std::scoped_lock lock(delivered.mutex);
    std::vector<Record> found;
    for (auto& buffer : delivered.buffers) {
      CUpti_Activity* record = nullptr;
      while (cuptiActivityGetNextRecord(buffer.data(), buffer.size(), &record) == CUPTI_SUCCESS) {
        if (record->kind == kind) found.push_back(*reinterpret_cast<const Record*>(record));
      }
    }
    return found;
  }

  static constexpr std::size_t bytes_ = 1000;
  int* memory_ = nullptr;
};

TEST_F(Activity, of_a_kernel_has_its_name_shape_stream_and_times) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(3, 2);
  config.blockDim = dim3(32);
  config.stream = stream;
  const std::uint64_t before = monotonic_ns();
  ASSERT_EQ(cudaLaunchKernelEx(&config, activity_test::named_kernel, memory_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const auto kernels = records<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  ASSERT_EQ(kernels.size(), 1u);
  const CUpti_ActivityKernel10& kernel = kernels[0];
  EXPECT_NE(std::string(kernel.name).find("named_kernel"), std::string::npos) << kernel.name;
  EXPECT_EQ(kernel.gridX, 3);
  EXPECT_EQ(kernel.gridY, 2);
  EXPECT_EQ(kernel.blockX, 32);
  EXPECT_EQ(kernel.deviceId, 0u);
  unsigned long long stream_id = 0;
  ASSERT_EQ(cuStreamGetId(stream, &stream_id), CUDA_SUCCESS);
  EXPECT_EQ(kernel.streamId, stream_id);
  EXPECT_LE(before, kernel.start);
  EXPECT_LE(kernel.start, kernel.end);
  EXPECT_LE(kernel.end, monotonic_ns());
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Activity, of_copies_and_fills_has_direction_and_bytes) {
  std::vector<char> host(bytes_);
  ASSERT_EQ(cudaMemset(memory_, 7, bytes_), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(host.data(), memory_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
  const auto copies = records<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(copies[0].srcKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  EXPECT_EQ(copies[0].dstKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  EXPECT_EQ(copies[0].bytes, bytes_);
  const auto fills = records<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(fills[0].value, 7u);
  EXPECT_EQ(fills[0].bytes, bytes_);
}

TEST_F(Activity, of_a_copy_between_devices_names_both) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* there = nullptr;
  ASSERT_EQ(cudaMalloc(&there, bytes_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(there, 1, memory_, 0, bytes_), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto copies = records<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].srcDeviceId, 0u);
  EXPECT_EQ(copies[0].dstDeviceId, 1u);
  EXPECT_EQ(cudaFree(there), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Activity, of_waiting_tells_for_what) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(event), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto waits = records<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  ASSERT_EQ(waits.size(), 2u);
  EXPECT_EQ(waits[0].type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  EXPECT_NE(waits[0].cudaEventId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  EXPECT_EQ(waits[1].type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
  EXPECT_EQ(waits[1].cudaEventId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(Activity, is_joined_to_external_ids_by_its_correlation_id) {
  ASSERT_EQ(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 77),
            CUPTI_SUCCESS);
  ASSERT_EQ(cudaMemset(memory_, 0, 4), cudaSuccess);
  std::uint64_t id = 0;
  ASSERT_EQ(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id),
            CUPTI_SUCCESS);
  EXPECT_EQ(id, 77u);
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id),
            CUPTI_ERROR_QUEUE_EMPTY);
  ASSERT_EQ(cudaMemset(memory_, 0, 8), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto joins = records<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  ASSERT_EQ(joins.size(), 1u);
  EXPECT_EQ(joins[0].externalId, 77u);
  for (const auto& fill : records<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET)) {
    EXPECT_EQ(fill.correlationId == joins[0].correlationId, fill.bytes == 4);
  }
}

TEST_F(Activity, has_a_call_with_the_thread_that_made_it) {
  std::vector<std::uint32_t> expected;
  const auto fill = [&](CUpti_ActivityThreadIdType type) {
    ASSERT_EQ(cuptiSetThreadIdType(type), CUPTI_SUCCESS);
    ASSERT_EQ(cudaMemset(memory_, 0, 4), cudaSuccess);
    const bool by_system = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    expected.push_back(by_system ? static_cast<std::uint32_t>(gettid())
                                 : static_cast<std::uint32_t>(pthread_self()));
  };
  fill(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  fill(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  std::jthread(fill, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM).join();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  const auto calls = records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
  std::vector<std::uint32_t> threads;
  for (const auto& fill_record : records<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET)) {
    for (const auto& call : calls) {
      if (call.correlationId == fill_record.correlationId) threads.push_back(call.threadId);
    }
  }
  EXPECT_EQ(threads, expected);
}

TEST_F(Activity, is_joined_only_for_calls_that_are_traced) {
  ASSERT_EQ(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 1),
            CUPTI_SUCCESS);
  ASSERT_EQ(cudaMemset(memory_, 0, 4), cudaSuccess);
  constexpr CUpti_CallbackId some_call = 216;
  ASSERT_EQ(cuptiActivityEnableDriverApi(some_call, 1), CUPTI_SUCCESS);
  ASSERT_EQ(cudaMemset(memory_, 0, 8), cudaSuccess);
  ASSERT_EQ(cuptiActivityEnableDriverApi(some_call, 0), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr),
            CUPTI_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(records<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION).size(), 1u);
}

TEST_F(Activity, that_finds_no_buffer_is_counted_as_dropped) {
  refuse_buffers = true;
  ASSERT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  ASSERT_EQ(cudaMemset(memory_, 0, 4), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory_, 0, 4), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  refuse_buffers = false;
  std::size_t dropped = 0;
  ASSERT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 6u) << "three activities and their calls";
  ASSERT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 0u);
}

TEST_F(Activity, fills_many_buffers_without_losing_any) {
  for (int i = 0; i < 500; ++i) ASSERT_EQ(cudaMemset(memory_, i, 4), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(records<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET).size(), 500u);
}

TEST_F(Activity, of_kinds_that_are_not_simulated_is_refused) {
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_INVALID_KIND);
}

}  // namespace
