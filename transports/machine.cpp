#include "transports/machine.hpp"

#include <dlfcn.h>

#include <atomic>
#include <new>

#include "transports/cuda/context.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/device_memory/ipc_cache.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/host/copy_workers.hpp"
#include "transports/host/guarded.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/small/resident.hpp"
#include "transports/stream_order/ready_flags.hpp"

namespace penstock::transports {
namespace {

DeviceInfo device_info(const cuda::Driver& driver, int ordinal, int devices) {
  DeviceInfo info;
  info.ordinal = ordinal;
  CUdevice device = 0;
  if (driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS) return info;
  char text[256] = "";
  if (driver.cuDeviceGetName(text, sizeof(text), device) == CUDA_SUCCESS) info.name = text;
  if (driver.cuDeviceGetPCIBusId(text, sizeof(text), device) == CUDA_SUCCESS) info.pci_bus_id = text;
  driver.cuDeviceTotalMem(&info.memory_bytes, device);
  info.uuid = cuda::text_of(cuda::uuid_of(ordinal));
  for (int peer = 0; peer < devices; ++peer) {
    if (peer != ordinal && cuda::can_access(ordinal, peer)) info.peers.push_back(peer);
  }
  return info;
}

/// Describes what connects GPUs by CUDA IPC: one device or several, of which all, some or no pairs have peer
/// access.
const char* span_of_ipc(const std::vector<DeviceInfo>& devices) {
  if (devices.size() == 1) return "between processes that share the GPU";
  std::size_t pairs = 0;
  for (const DeviceInfo& device : devices) pairs += device.peers.size();
  if (pairs == 0) return "on one GPU only: no GPU can access another's memory";
  return pairs < devices.size() * (devices.size() - 1) ? "between some GPUs: not all can access each other"
                                                       : "between all GPUs";
}

/// `why_no_gpu` matters only if there are no devices.
TransportInfo describe(const TransportRow& transport, const std::vector<DeviceInfo>& devices,
                       const char* why_no_gpu) {
  const bool has_gpu = !devices.empty();
  if (transport.span == TransportSpan::host_memory)
    return {transport.kind, true, has_gpu ? "through pinned host memory" : "through host memory"};
  if (!has_gpu) return {transport.kind, false, why_no_gpu};
  switch (transport.span) {
    case TransportSpan::one_process:
      return {transport.kind, true, "between threads of one process"};
    case TransportSpan::ipc:
      return {transport.kind, true, span_of_ipc(devices)};
    case TransportSpan::nodes:
      return {transport.kind, true, "between nodes, by penstock run --everywhere"};
    case TransportSpan::host_memory:
      break;
  }
  return {};
}

}  // namespace

bool cuda_in_use() noexcept {
  static std::atomic<bool> initialised{false};
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return false;
  if (initialised.load(std::memory_order_relaxed)) return true;
  int devices = 0;
  if (driver->cuDeviceGetCount(&devices) != CUDA_SUCCESS) return false;
  initialised.store(true, std::memory_order_relaxed);
  return true;
}

bool has_context() noexcept {
  try {
    return cuda_in_use() && cuda::Context::any() != nullptr;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void prepare_kernels() noexcept {
  static std::atomic<bool> are_somewhere{false};
  if (are_somewhere.load(std::memory_order_relaxed) || !cuda_in_use()) return;
  static_cast<void>(guarded([]() -> Status {
    const cuda::ContextRef& context = cuda::Context::any();
    if (context != nullptr && cuda::Kernels::ready_in(*context).ok())
      are_somewhere.store(true, std::memory_order_relaxed);
    return {};
  }));
}

void prepare_kernels(const Buffer& buffer) noexcept {
  static std::atomic<CUcontext> latest{nullptr};
  if (!lives_on_device(buffer.kind)) return;
  if (buffer.context != nullptr && buffer.context == latest.load(std::memory_order_relaxed)) return;
  if (cuda::Kernels::ready_for(buffer).ok()) latest.store(buffer.context, std::memory_order_relaxed);
}

void shut_down() noexcept {
  constexpr int timeout_ms = 5000;
  CopyWorkers::of_process().stop();
  end_resident_kernels();
  forget_flag_memory();
  cuda::IpcCache::of_process().clear();
  RegionPool::of_process().clear();
  RegionCache::of_process().clear();
  cuda::RelaySlice::drop_all();
  cuda::Bounce::drop_idle();
  cuda::PinnableMapping::free_all_unused();
  cuda::Context::drop_all(timeout_ms);
  cuda::close_driver();
}

MachineInfo survey() {
  MachineInfo info;
  const cuda::Driver* driver = cuda::load_driver();
  const char* no_gpu = "no GPU";
  if (driver == nullptr) {
    no_gpu = "libcuda.so.1 was not found";
  } else {
    info.driver_found = true;
    info.simulated = dlsym(driver->library, "simulated_gpu_marker") != nullptr;
    driver->cuDriverGetVersion(&info.driver_version);
    int devices = 0;
    if (driver->cuInit(0) == CUDA_SUCCESS) driver->cuDeviceGetCount(&devices);
    for (int ordinal = 0; ordinal < devices; ++ordinal)
      info.devices.push_back(device_info(*driver, ordinal, devices));
  }
  for (const TransportRow& row : transport_rows)
    info.transports.push_back(describe(row, info.devices, no_gpu));
  return info;
}

}  // namespace penstock::transports
