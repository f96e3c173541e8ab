#include "transports/cuda/context.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/transports/busy_stream.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/machine.hpp"

namespace penstock::transports::test {
namespace {

/// A context of the application's own, by the driver API.
CUcontext make_context() {
  REQUIRE_CUDA(cuInit(0));
  CUcontext context = nullptr;
  REQUIRE_CUDA(cuCtxCreate(&context, nullptr, 0, 0));
  return context;
}

TEST(Context, is_known_by_its_handle_while_it_lives) {
  const CUcontext handle = make_context();
  const cuda::ContextRef known = cuda::Context::of(handle);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known, cuda::Context::of(handle));
  EXPECT_TRUE(known->is_alive());
  REQUIRE_CUDA(cuCtxDestroy(handle));
  EXPECT_FALSE(known->is_alive());
  EXPECT_EQ(cuda::Context::of(handle), nullptr);
}

TEST(Context, that_was_asked_for_stays_the_same_whatever_is_asked_for_later) {
  const CUcontext first_handle = make_context();
  const CUcontext second_handle = make_context();
  const cuda::ContextRef& first = cuda::Context::of(first_handle);
  const cuda::ContextRef& second = cuda::Context::of(second_handle);
  const cuda::ContextRef& any = cuda::Context::any();
  EXPECT_EQ(first->handle(), first_handle);
  EXPECT_EQ(second->handle(), second_handle);
  EXPECT_NE(any, nullptr);
  REQUIRE_CUDA(cuCtxDestroy(first_handle));
  EXPECT_EQ(cuda::Context::of(first_handle), nullptr);
  EXPECT_EQ(cuda::Context::of(second_handle), second);
  EXPECT_EQ(first->handle(), first_handle) << "its memory must not have gone with it";
  REQUIRE_CUDA(cuCtxDestroy(second_handle));
}

TEST(Context, that_is_destroyed_under_its_streams_and_events_does_no_harm) {
  for (int round = 0; round < 3; ++round) {
    const CUcontext handle = make_context();
    CUdeviceptr memory = 0;
    REQUIRE_CUDA(cuMemAlloc(&memory, 4096));
    std::vector<char> host(4096);
    const BufferView place{inspect(reinterpret_cast<const void*>(memory)), Layout::contiguous(host.size())};
    EXPECT_EQ(place.buffer.context, handle);
    ASSERT_TRUE(download(host.data(), place).ok());
    const cuda::ContextRef context = cuda::Context::of(handle);
    cuda::Event event;
    {
      const cuda::ContextScope scope(*context);
      ASSERT_TRUE(cuda::Context::take_event(context, event).ok());
    }
    REQUIRE_CUDA(cuCtxDestroy(handle));
    bool done = false;
    EXPECT_FALSE(event.query(done).ok());
    EXPECT_FALSE(event.wait().ok());
    EXPECT_FALSE(download(host.data(), place).ok()) << "from memory that went with its context";
  }
}

TEST(Context, is_made_current_and_put_back) {
  const CUcontext outer = make_context();
  const CUcontext inner = make_context();
  REQUIRE_CUDA(cuCtxSetCurrent(outer));
  CUcontext current = nullptr;
  {
    const cuda::ContextScope scope(*cuda::Context::of(inner));
    REQUIRE_CUDA(cuCtxGetCurrent(&current));
    EXPECT_EQ(current, inner);
  }
  REQUIRE_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, outer);
  REQUIRE_CUDA(cuCtxDestroy(inner));
  REQUIRE_CUDA(cuCtxDestroy(outer));
}

TEST(Context, events_are_used_again) {
  use_device(0);
  const cuda::ContextRef context = cuda::Context::any();
  ASSERT_NE(context, nullptr);
  const cuda::ContextScope scope(*context);
  CUevent first = nullptr;
  for (int round = 0; round < 3; ++round) {
    cuda::Event event;
    ASSERT_TRUE(cuda::Context::take_event(context, event).ok());
    if (round == 0) first = event.handle();
    EXPECT_EQ(event.handle(), first);
  }
}

TEST(Context, streams_do_not_wait_for_the_legacy_stream) {
  use_device(0);
  const cuda::ContextRef context = cuda::Context::any();
  BusyStream busy(CU_STREAM_LEGACY);
  const cuda::ContextScope scope(*context);
  CUstream stream = nullptr;
  cuda::Event event;
  ASSERT_TRUE(context->stream(cuda::StreamUse::pull_0, stream).ok());
  ASSERT_TRUE(cuda::Context::take_event(context, event).ok());
  ASSERT_TRUE(event.record(stream).ok());
  EXPECT_TRUE(event.wait().ok());
}

TEST(Machine, survey_names_the_devices_and_the_transports) {
  const MachineInfo machine = survey();
  EXPECT_TRUE(machine.driver_found);
  EXPECT_GT(machine.driver_version, 0);
  ASSERT_EQ(machine.devices.size(), static_cast<std::size_t>(device_count()));
  for (const DeviceInfo& device : machine.devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_EQ(device.uuid.size(), 40u) << device.uuid;
    EXPECT_GT(device.memory_bytes, 0u);
    EXPECT_LT(device.peers.size(), machine.devices.size());
  }
  ASSERT_EQ(machine.transports.size(), 6u);
  for (const TransportInfo& transport : machine.transports)
    EXPECT_FALSE(transport.why.empty()) << name_of(transport.kind);
}

}  // namespace
}  // namespace penstock::transports::test
