#include "interpose/record/nvml_library.hpp"

#include <dlfcn.h>

namespace penstock::record {

namespace {

template <typename Function>
void take_function(void* library, const char* name, Function& function) noexcept {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::string open_nvml(const std::string& file, NvmlLibrary& table) {
  const char* const name = file.empty() ? "libnvidia-ml.so.1" : file.c_str();
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return file.empty() ? "libnvidia-ml.so.1 was not found (PENSTOCK_NVML may name the file)"
                        : "PENSTOCK_NVML: " + std::string(dlerror());
  }
  take_function(library, "nvmlInit_v2", table.init);
  take_function(library, "nvmlErrorString", table.error_string);
  take_function(library, "nvmlDeviceGetHandleByPciBusId_v2", table.device_by_pci_bus_id);
  take_function(library, "nvmlDeviceGetIndex", table.index_of);
  take_function(library, "nvmlDeviceGetPowerUsage", table.power_usage);
  take_function(library, "nvmlDeviceGetTotalEnergyConsumption", table.total_energy);
  take_function(library, "nvmlDeviceGetClockInfo", table.clock);
  take_function(library, "nvmlDeviceGetMaxClockInfo", table.most_clock);
  take_function(library, "nvmlDeviceGetCurrentClocksEventReasons", table.throttle_reasons);
  if (table.throttle_reasons == nullptr) {  // drivers before 535
    take_function(library, "nvmlDeviceGetCurrentClocksThrottleReasons", table.throttle_reasons);
  }
  take_function(library, "nvmlDeviceGetTemperature", table.temperature);
  if (table.init == nullptr || table.device_by_pci_bus_id == nullptr) {
    return "libnvidia-ml lacks functions that Penstock calls";
  }
  if (const int result = table.init(); result != nvml::success) {
    const char* const words = table.error_string == nullptr ? nullptr : table.error_string(result);
    return "NVML refused: " + std::string(words == nullptr ? "unknown error" : words);
  }
  return {};
}

}  // namespace penstock::record
