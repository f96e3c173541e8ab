// What needs several processes, or an environment of its own. The test program itself never initialises the
// driver.
#include <csignal>

#include "simulated_gpu.h"
#include "support.hpp"

using namespace simulated_gpu::test;

namespace {

void use_device(int ordinal) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, ordinal), CUDA_SUCCESS);
}

/// Owner and user of an allocation, each on its device.
void share_memory(int owner_device, int user_device) {
  Pipe<CUipcMemHandle> handles;
  Pipe<char> finished;
  const auto values = pattern(100'000);
  Child owner({}, [&] {
    use_device(owner_device);
    allocate(512);  // so that the shared one does not start its block
    const CUdeviceptr address = upload(values);
    CUipcMemHandle handle{};
    ASSERT_EQ(cuIpcGetMemHandle(&handle, address + 1000),
              CUDA_SUCCESS);  // means the allocation, not the address
    handles.send(handle);
    finished.receive();
    EXPECT_EQ(download(address + 99'999, 1)[0], 42);
  });
  Child user({}, [&] {
    use_device(user_device);
    const CUipcMemHandle handle = handles.receive();
    CUdeviceptr address = 0;
    CUdeviceptr again = 0;
    ASSERT_EQ(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
    ASSERT_EQ(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
    EXPECT_EQ(again, address);
    EXPECT_EQ(download(address, values.size()), values);
    EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    CUipcMemHandle second_hand{};
    EXPECT_EQ(cuIpcGetMemHandle(&second_hand, address), CUDA_ERROR_INVALID_VALUE);
    ASSERT_EQ(cuMemsetD8(address + 99'999, 42, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
    EXPECT_EQ(download(address, 1)[0], values[0]);  // opened twice
    ASSERT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
    EXPECT_EQ(cuIpcCloseMemHandle(address), CUDA_ERROR_INVALID_VALUE);
    finished.send(1);
  });
}

TEST(Processes, share_memory_on_one_device) {
  share_memory(0, 0);
}
TEST(Processes, share_memory_between_devices) {
  share_memory(0, 1);
}

TEST(Processes, map_no_memory_whose_place_is_mapped_in_part) {
  Pipe<CUipcMemHandle> handles;
  Pipe<char> opened;
  Child owner({}, [&] {
    use_device(0);
    allocate(512);  // so that the block stays
    CUipcMemHandle handle{};
    for (const std::size_t bytes : {std::size_t{1000}, std::size_t{300'000}}) {
      const CUdeviceptr address = allocate(bytes);
      ASSERT_EQ(cuIpcGetMemHandle(&handle, address), CUDA_SUCCESS);
      handles.send(handle);
      opened.receive();
      ASSERT_EQ(cuMemFree(address), CUDA_SUCCESS);
    }
  });
  Child user({}, [&] {
    use_device(0);
    CUdeviceptr before = 0;
    ASSERT_EQ(cuIpcOpenMemHandle(&before, handles.receive(), CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              CUDA_SUCCESS);
    opened.send(1);
    const CUipcMemHandle handle = handles.receive();
    CUdeviceptr address = 0;
    EXPECT_EQ(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              CUDA_ERROR_ALREADY_MAPPED);
    ASSERT_EQ(cuIpcCloseMemHandle(before), CUDA_SUCCESS);
    EXPECT_EQ(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_SUCCESS);
    opened.send(1);
  });
}

TEST(Processes, do_not_open_their_own_handles) {
  in_child({}, [] {
    use_device(0);
    CUipcMemHandle handle{};
    ASSERT_EQ(cuIpcGetMemHandle(&handle, allocate(100)), CUDA_SUCCESS);
    CUdeviceptr address = 0;
    EXPECT_EQ(cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
              CUDA_ERROR_INVALID_CONTEXT);
  });
}

TEST(Processes, keep_old_memory_when_its_owner_frees_it_but_cannot_open_it_any_more) {
  Pipe<CUipcMemHandle> handles;
  Pipe<char> opened;
  Pipe<char> freed;
  constexpr std::size_t bytes = std::size_t{4} << 20;
  Child owner({}, [&] {
    use_device(0);
    const CUdeviceptr address = allocate(bytes);
    ASSERT_EQ(cuMemsetD8(address, 1, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    CUipcMemHandle handle{};
    ASSERT_EQ(cuIpcGetMemHandle(&handle, address), CUDA_SUCCESS);
    handles.send(handle);
    opened.receive();
    ASSERT_EQ(cuMemFree(address), CUDA_SUCCESS);
    ASSERT_EQ(allocate(bytes), address);
    ASSERT_EQ(cuMemsetD8(address, 2, bytes), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    freed.send(1);
    opened.receive();
  });
  Child user({}, [&] {
    use_device(0);
    const CUipcMemHandle handle = handles.receive();
    CUdeviceptr address = 0;
    ASSERT_EQ(cuIpcOpenMemHandle(&address, handle, 1), CUDA_SUCCESS);
    opened.send(1);
    freed.receive();
    EXPECT_EQ(download(address, 1)[0], 1);
    ASSERT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
    EXPECT_EQ(cuIpcOpenMemHandle(&address, handle, 1), CUDA_ERROR_INVALID_HANDLE);
    opened.send(1);
  });
}

TEST(Processes, refuse_handles_that_nobody_made) {
  in_child({}, [] {
    use_device(0);
    CUdeviceptr address = 0;
    CUevent event = nullptr;
    EXPECT_EQ(cuIpcOpenMemHandle(&address, CUipcMemHandle{}, 1), CUDA_ERROR_INVALID_HANDLE);
    EXPECT_EQ(cuIpcOpenEventHandle(&event, CUipcEventHandle{}), CUDA_ERROR_INVALID_HANDLE);
  });
}

TEST(Processes, wait_for_each_others_events) {
  Pipe<CUipcEventHandle> handles;
  Pipe<char> turns;
  Pipe<char> answers;
  Child owner({}, [&] {
    use_device(0);
    CUevent event = nullptr;
    EXPECT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS),
              CUDA_ERROR_INVALID_VALUE);  // needs DISABLE_TIMING
    ASSERT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    CUipcEventHandle handle{};
    ASSERT_EQ(cuIpcGetEventHandle(&handle, event), CUDA_SUCCESS);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    Gate gate;
    gate.close(stream);
    ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
    handles.send(handle);
    answers.receive();
    gate.open();
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    turns.send(1);
    answers.receive();
  });
  Child user({}, [&] {
    use_device(1);
    CUevent event = nullptr;
    ASSERT_EQ(cuIpcOpenEventHandle(&event, handles.receive()), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamWaitEvent(nullptr, event, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    answers.send(1);
    turns.receive();
    EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
    answers.send(1);
  });
}

TEST(Processes, that_are_killed_leave_nothing_and_their_memory_stays_with_who_uses_it) {
  Pipe<CUipcMemHandle> handles;
  Child owner({}, [&] {
    use_device(0);
    const CUdeviceptr address = upload(pattern(1000));
    CUipcMemHandle handle{};
    ASSERT_EQ(cuIpcGetMemHandle(&handle, address), CUDA_SUCCESS);
    handles.send(handle);
    pause();
  });
  Pipe<char> opened;
  Pipe<char> killed;
  Child user({}, [&] {
    use_device(0);
    const CUipcMemHandle handle = handles.receive();
    CUdeviceptr address = 0;
    ASSERT_EQ(cuIpcOpenMemHandle(&address, handle, 1), CUDA_SUCCESS);
    opened.send(1);
    killed.receive();
    EXPECT_EQ(download(address, 1000), pattern(1000));
    ASSERT_EQ(cuIpcCloseMemHandle(address), CUDA_SUCCESS);
    EXPECT_EQ(cuIpcOpenMemHandle(&address, handle, 1), CUDA_ERROR_INVALID_HANDLE);
  });
  opened.receive();
  ASSERT_EQ(kill(owner.id(), SIGKILL), 0);
  const int status = owner.wait_for_signal();
  EXPECT_EQ(status, SIGKILL);
  killed.send(1);
}

TEST(Processes, lose_the_driver_when_they_fork) {
  in_child({}, [] {
    use_device(0);
    const CUdeviceptr address = allocate(100);
    in_child({}, [&] {
      EXPECT_EQ(cuMemFree(address), CUDA_ERROR_NOT_INITIALIZED);
      EXPECT_EQ(cuMemcpyDtoH(nullptr, address, 1), CUDA_ERROR_NOT_INITIALIZED);
    });
    EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
  });
}

TEST(Processes, have_no_driver_before_they_initialise_it) {
  in_child({}, [] {
    int count = 0;
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    EXPECT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
    EXPECT_EQ(count, 2);
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc(&address, 100), CUDA_ERROR_INVALID_CONTEXT);
  });
}

TEST(Devices, are_as_many_as_asked_for) {
  in_child({{"SIMULATED_GPU_DEVICES", "5"}}, [] {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    int count = 0;
    ASSERT_EQ(cuDeviceGetCount(&count), CUDA_SUCCESS);
    EXPECT_EQ(count, 5);
    CUdevice device = 0;
    EXPECT_EQ(cuDeviceGet(&device, 5), CUDA_ERROR_INVALID_DEVICE);
  });
  in_child({{"SIMULATED_GPU_DEVICES", "0"}}, [] { EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE); });
}

CUuuid uuid_of(CUdevice device) {
  CUuuid uuid{};
  EXPECT_EQ(cuDeviceGetUuid(&uuid, device), CUDA_SUCCESS);
  return uuid;
}

TEST(Devices, keep_their_uuid_when_others_are_hidden) {
  Pipe<CUuuid> uuids;
  in_child({}, [&] {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    uuids.send(uuid_of(1));
  });
  const CUuuid expected = uuids.receive();
  for (const char* visible : {"1", "1,0", "1,9,0", "GPU-73696d75-6c61-7465-6420-475055000001"}) {
    in_child({{"CUDA_VISIBLE_DEVICES", visible}}, [&] {
      ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
      EXPECT_EQ(std::string(uuid_of(0).bytes, 16), std::string(expected.bytes, 16));
    });
  }
}

TEST(Devices, without_peer_access_refuse_what_needs_it_and_still_copy) {
  Pipe<CUipcMemHandle> handles;
  Pipe<char> finished;
  Child owner({}, [&] {
    use_device(0);
    CUipcMemHandle handle{};
    ASSERT_EQ(cuIpcGetMemHandle(&handle, allocate(100)), CUDA_SUCCESS);
    handles.send(handle);
    finished.receive();
  });
  in_child({{"SIMULATED_GPU_PEER", "0"}}, [&] {
    use_device(1);
    const CUdeviceptr there = upload(pattern(1000));
    CUcontext first = nullptr;
    CUcontext second = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&second), CUDA_SUCCESS);
    int can = 1;
    ASSERT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
    EXPECT_EQ(can, 0);
    CUdeviceptr address = 0;
    EXPECT_EQ(cuIpcOpenMemHandle(&address, handles.receive(), 1), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    ASSERT_EQ(cuCtxCreate(&first, nullptr, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    const CUdeviceptr here = allocate(1000);
    ASSERT_EQ(cuMemcpyPeer(here, first, there, second, 1000), CUDA_SUCCESS);
    EXPECT_EQ(download(here, 1000), pattern(1000));
    finished.send(1);
  });
}

TEST(Devices, enable_peer_access_once) {
  in_child({}, [] {
    use_device(0);
    CUcontext first = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&first), CUDA_SUCCESS);
    use_device(1);
    EXPECT_EQ(cuCtxEnablePeerAccess(first, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxEnablePeerAccess(first, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    EXPECT_EQ(cuCtxDisablePeerAccess(first), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxDisablePeerAccess(first), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  });
}

TEST(Faults, come_from_the_call_asked_for_and_as_often_as_asked_for) {
  in_child({{"SIMULATED_GPU_FAULTS", "cuMemAlloc_v2:2@2x2,cuMemFree_v2:719"}}, [] {
    use_device(0);
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc(&address, 100), CUDA_SUCCESS);
    CUdeviceptr other = 0;
    EXPECT_EQ(cuMemAlloc(&other, 100), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc(&other, 100), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(cuMemAlloc(&other, 100), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree(address), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(cuMemFree(address), CUDA_ERROR_LAUNCH_FAILED);
  });
}

TEST(Faults, that_cannot_be_read_are_named) {
  for (const char* text :
       {"cuMemAlloc_v2", "cuMemAlloc_v2:x", ":2", "cuMemAlloc_v2:2@", "cuMemAlloc_v2:2y3"}) {
    testing::internal::CaptureStderr();
    in_child({{"SIMULATED_GPU_FAULTS", text}},
             [] { EXPECT_EQ(simulated_gpu_injected_fault("cuMemAlloc_v2"), 0); });
    EXPECT_NE(testing::internal::GetCapturedStderr().find(text), std::string::npos) << text;
  }
}

TEST(EntryPoints, are_found_by_the_name_without_version) {
  in_child({}, [] {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status{};
    ASSERT_EQ(cuGetProcAddress("cuMemAlloc", &function, CUDA_VERSION, 0, &status), CUDA_SUCCESS);
    EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc));
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
    EXPECT_EQ(cuGetProcAddress("cuTexObjectCreate", &function, CUDA_VERSION, 0, &status),
              CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(function, nullptr);
  });
}

TEST(EntryPoints, that_are_not_simulated_are_named_when_asked_to) {
  testing::internal::CaptureStderr();
  in_child({{"SIMULATED_GPU_VERBOSE", "1"}}, [] {
    void* function = nullptr;
    EXPECT_EQ(cuGetProcAddress("cuTexObjectCreate", &function, CUDA_VERSION, 0, nullptr),
              CUDA_ERROR_NOT_FOUND);
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cuTexObjectCreate"), std::string::npos);
}

TEST(EntryPoints, tell_a_simulated_driver_by_its_marker) {
  EXPECT_EQ(simulated_gpu_marker, 1);
}

}  // namespace
