#include "records.hpp"

namespace simulated_gpu::activity {
namespace {

bool is_host(int memory_kind) {
  return memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
         memory_kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

/// Managed memory counts as the device's.
CUpti_ActivityMemcpyKind direction_of(const SimulatedGpuActivity& activity) {
  if (is_host(activity.source_kind)) {
    return is_host(activity.destination_kind) ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOH
                                              : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  }
  return is_host(activity.destination_kind) ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                            : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

/// The fields that records of things on a stream have in common.
template <typename Record>
Record record_of(const SimulatedGpuActivity& activity) {
  Record record{};
  record.kind = kind_of(activity);
  record.start = activity.start_ns;
  record.end = activity.end_ns;
  record.contextId = activity.context;
  record.streamId = activity.stream;
  record.correlationId = activity.correlation;
  return record;
}

}  // namespace

CUpti_ActivityKind kind_of(const SimulatedGpuActivity& activity) noexcept {
  switch (activity.kind) {
    case SIMULATED_GPU_KERNEL:
      return CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    case SIMULATED_GPU_COPY:
      return CUPTI_ACTIVITY_KIND_MEMCPY;
    case SIMULATED_GPU_PEER_COPY:
      return CUPTI_ACTIVITY_KIND_MEMCPY2;
    case SIMULATED_GPU_SET:
      return CUPTI_ACTIVITY_KIND_MEMSET;
    case SIMULATED_GPU_WAIT:
      return CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  }
  return CUPTI_ACTIVITY_KIND_INVALID;
}

CUpti_ActivityKernel10 kernel_record(const SimulatedGpuActivity& activity) noexcept {
  auto record = record_of<CUpti_ActivityKernel10>(activity);
  record.deviceId = activity.device;
  record.completed = activity.end_ns;
  record.name = activity.name;
  record.gridX = static_cast<int32_t>(activity.grid[0]);
  record.gridY = static_cast<int32_t>(activity.grid[1]);
  record.gridZ = static_cast<int32_t>(activity.grid[2]);
  record.blockX = static_cast<int32_t>(activity.block[0]);
  record.blockY = static_cast<int32_t>(activity.block[1]);
  record.blockZ = static_cast<int32_t>(activity.block[2]);
  return record;
}

CUpti_ActivityMemcpy6 copy_record(const SimulatedGpuActivity& activity) noexcept {
  auto record = record_of<CUpti_ActivityMemcpy6>(activity);
  record.deviceId = activity.device;
  record.copyKind = static_cast<uint8_t>(direction_of(activity));
  record.srcKind = static_cast<uint8_t>(activity.source_kind);
  record.dstKind = static_cast<uint8_t>(activity.destination_kind);
  record.flags = activity.is_async != 0 ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  record.bytes = activity.bytes;
  record.copyCount = 1;
  return record;
}

CUpti_ActivityMemcpyPtoP4 peer_copy_record(const SimulatedGpuActivity& activity) noexcept {
  auto record = record_of<CUpti_ActivityMemcpyPtoP4>(activity);
  record.deviceId = activity.device;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.srcKind = static_cast<uint8_t>(activity.source_kind);
  record.dstKind = static_cast<uint8_t>(activity.destination_kind);
  record.flags = activity.is_async != 0 ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  record.bytes = activity.bytes;
  record.srcDeviceId = activity.source_device;
  record.dstDeviceId = activity.destination_device;
  return record;
}

CUpti_ActivityMemset4 set_record(const SimulatedGpuActivity& activity) noexcept {
  auto record = record_of<CUpti_ActivityMemset4>(activity);
  record.deviceId = activity.device;
  record.value = activity.value;
  record.bytes = activity.bytes;
  record.memoryKind = static_cast<uint16_t>(activity.destination_kind);
  record.flags = activity.is_async != 0 ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : CUPTI_ACTIVITY_FLAG_NONE;
  return record;
}

CUpti_ActivitySynchronization2 wait_record(const SimulatedGpuActivity& activity) noexcept {
  auto record = record_of<CUpti_ActivitySynchronization2>(activity);
  record.type = static_cast<CUpti_ActivitySynchronizationType>(activity.wait);
  if (activity.stream == 0) record.streamId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId = activity.event == 0 ? CUPTI_SYNCHRONIZATION_INVALID_VALUE : activity.event;
  return record;
}

}  // namespace simulated_gpu::activity
