// What Penstock asks of NVML: the machine's GPUs, also those that CUDA_VISIBLE_DEVICES hides, and which of
// them NVLink connects.
#include <cstdint>
#include <cstdio>
#include <string>

#include "../driver/machine.hpp"

namespace {

constexpr int success = 0;
constexpr int error_uninitialized = 1;
constexpr int error_invalid_argument = 2;
constexpr int error_insufficient_size = 7;
constexpr int p2p_by_nvlink = 2;
constexpr int p2p_ok = 0;
constexpr int p2p_not_supported = 5;

int times_started = 0;

/// A handle is the GPU's number, from 1.
struct Device;
Device* handle_of(unsigned number) {
  return reinterpret_cast<Device*>(static_cast<std::uintptr_t>(number) + 1);
}
int number_of(Device* device) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}
bool is_there(int number) {
  return number >= 0 && number < simulated_gpu::devices_of_machine();
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int nvmlInit_v2() {
  ++times_started;
  return success;
}

EXPORTED int nvmlShutdown() {
  if (times_started == 0) return error_uninitialized;
  --times_started;
  return success;
}

EXPORTED int nvmlDeviceGetCount_v2(unsigned* devices) {
  if (times_started == 0) return error_uninitialized;
  *devices = static_cast<unsigned>(simulated_gpu::devices_of_machine());
  return success;
}

EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, Device** device) {
  if (times_started == 0) return error_uninitialized;
  if (!is_there(static_cast<int>(index))) return error_invalid_argument;
  *device = handle_of(index);
  return success;
}

EXPORTED int nvmlDeviceGetUUID(Device* device, char* text, unsigned bytes) {
  if (times_started == 0) return error_uninitialized;
  if (!is_there(number_of(device))) return error_invalid_argument;
  const std::string uuid = simulated_gpu::text_of(simulated_gpu::uuid_of(number_of(device)));
  if (uuid.size() >= bytes) return error_insufficient_size;
  std::snprintf(text, bytes, "%s", uuid.c_str());
  return success;
}

EXPORTED int nvmlDeviceGetP2PStatus(Device* device, Device* peer, int capability, int* status) {
  if (times_started == 0) return error_uninitialized;
  if (!is_there(number_of(device)) || !is_there(number_of(peer)) || device == peer)
    return error_invalid_argument;
  const bool connected = capability == p2p_by_nvlink && simulated_gpu::nvlink_exists();
  *status = connected ? p2p_ok : p2p_not_supported;
  return success;
}
