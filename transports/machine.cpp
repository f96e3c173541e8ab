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
#include "transports/small/small_copies.hpp"
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

/// Describes a transport over CUDA IPC: for one device or several, of which all, some or no pairs have peer
/// access.
TransportInfo describe_ipc_transport(TransportKind kind, const std::vector<DeviceInfo>& devices) {
  if (devices.size() == 1) return {kind, true, "between processes that share the GPU"};
  std::size_t pairs = 0;
  for (const DeviceInfo& device : devices) pairs += device.peers.size();
  if (pairs == 0) return {kind, true, "on one GPU only: no GPU can access another's memory"};
  if (pairs < devices.size() * (devices.size() - 1))
    return {kind, true, "between some GPUs: not all can access each other"};
  return {kind, true, "between all GPUs"};
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
  const bool gpu = !info.devices.empty();
  info.transports.push_back({TransportKind::local, gpu, gpu ? "between threads of one process" : no_gpu});
  for (const TransportKind kind : {TransportKind::peer, TransportKind::relayed, TransportKind::pushed}) {
    info.transports.push_back(gpu ? describe_ipc_transport(kind, info.devices)
                                  : TransportInfo{kind, false, no_gpu});
  }
  info.transports.push_back(
      {TransportKind::staged, true, gpu ? "through pinned host memory" : "through host memory"});
  info.transports.push_back(
      {TransportKind::network, gpu, gpu ? "between nodes, by penstock run --everywhere" : no_gpu});
  return info;
}

}  // namespace penstock::transports
