#include "interpose/record/gpu/cuda_presence.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <optional>

namespace penstock::record {

namespace {

/// Returns null if libcuda is not loaded.
void* find_in_cuda(const char* name) noexcept {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* function = dlsym(library, name);
  dlclose(library);  // drops this function's reference only; it stays loaded
  return function;
}

/// Returns nothing if CUDA was not initialised.
std::optional<int> device_count() noexcept {
  const auto get_count = reinterpret_cast<decltype(&cuDeviceGetCount)>(find_in_cuda("cuDeviceGetCount"));
  int count = 0;
  return get_count != nullptr && get_count(&count) == CUDA_SUCCESS ? std::optional(count) : std::nullopt;
}

}  // namespace

bool cuda_is_loaded() noexcept {
  return find_in_cuda("cuInit") != nullptr;
}

bool cuda_is_initialised() noexcept {
  return device_count().has_value();
}

int visible_cuda_devices() noexcept {
  return device_count().value_or(0);
}

std::string identity_of(const CudaDevice& device) {
  using GetUuid = CUresult (*)(CUuuid*, CUdevice);
  void* function = find_in_cuda("cuDeviceGetUuid_v2");  // knows MIG
  if (function == nullptr) function = find_in_cuda("cuDeviceGetUuid");
  CUuuid uuid{};
  if (function == nullptr || reinterpret_cast<GetUuid>(function)(&uuid, device.ordinal) != CUDA_SUCCESS)
    return {};
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char each : uuid.bytes) {
    text += digits[static_cast<unsigned char>(each) >> 4];
    text += digits[static_cast<unsigned char>(each) & 15];
  }
  return text;
}

std::vector<CudaDevice> cuda_devices_in_use() {
  std::vector<CudaDevice> devices;
  const auto get_state =
      reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(find_in_cuda("cuDevicePrimaryCtxGetState"));
  const auto get_bus_id =
      reinterpret_cast<decltype(&cuDeviceGetPCIBusId)>(find_in_cuda("cuDeviceGetPCIBusId"));
  if (get_state == nullptr || get_bus_id == nullptr) return devices;
  const int count = visible_cuda_devices();
  for (CUdevice device = 0; device < count; ++device) {
    unsigned flags = 0;
    int is_active = 0;
    CudaDevice found{device, {}};
    if (get_state(device, &flags, &is_active) == CUDA_SUCCESS && is_active != 0 &&
        get_bus_id(found.pci_bus_id, sizeof found.pci_bus_id, device) == CUDA_SUCCESS) {
      devices.push_back(found);
    }
  }
  return devices;
}

void copy_device_name(char* name, std::size_t size) noexcept {
  if (!cuda_is_initialised()) return;
  const auto get_device = reinterpret_cast<decltype(&cuCtxGetDevice)>(find_in_cuda("cuCtxGetDevice"));
  const auto get_name = reinterpret_cast<decltype(&cuDeviceGetName)>(find_in_cuda("cuDeviceGetName"));
  CUdevice device = 0;
  if (get_device == nullptr || get_device(&device) != CUDA_SUCCESS) device = 0;
  if (get_name != nullptr) get_name(name, static_cast<int>(size), device);
}

}  // namespace penstock::record
