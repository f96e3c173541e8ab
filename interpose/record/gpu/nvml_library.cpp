#include "interpose/record/gpu/nvml_library.hpp"

#include <dlfcn.h>

#include "transports/host/symbol.hpp"

namespace penstock::record {

using transports::find_symbol;

std::string words_of(const NvmlLibrary& library, int result) {
  const char* const words = library.error_string == nullptr ? nullptr : library.error_string(result);
  return words == nullptr ? "unknown error" : words;
}

std::string open_nvml(const std::string& file, NvmlLibrary& table) {
  const char* const name = file.empty() ? "libnvidia-ml.so.1" : file.c_str();
  void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return file.empty() ? "libnvidia-ml.so.1 was not found (PENSTOCK_NVML may name the file)"
                        : "PENSTOCK_NVML: " + std::string(dlerror());
  }
  find_symbol(library, "nvmlInit_v2", table.init);
  find_symbol(library, "nvmlErrorString", table.error_string);
  find_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", table.device_by_pci_bus_id);
  find_symbol(library, "nvmlDeviceGetIndex", table.index_of);
  find_symbol(library, "nvmlDeviceGetPowerUsage", table.power_usage);
  find_symbol(library, "nvmlDeviceGetTotalEnergyConsumption", table.total_energy);
  find_symbol(library, "nvmlDeviceGetClockInfo", table.clock);
  find_symbol(library, "nvmlDeviceGetMaxClockInfo", table.most_clock);
  find_symbol(library, "nvmlDeviceGetCurrentClocksEventReasons", table.throttle_reasons);
  if (table.throttle_reasons == nullptr) {  // drivers before 535
    find_symbol(library, "nvmlDeviceGetCurrentClocksThrottleReasons", table.throttle_reasons);
  }
  find_symbol(library, "nvmlDeviceGetTemperature", table.temperature);
  if (table.init == nullptr || table.device_by_pci_bus_id == nullptr) {
    return "libnvidia-ml lacks functions that Penstock calls";
  }
  if (const int result = table.init(); result != nvml::success) {
    return "NVML refused: " + words_of(table, result);
  }
  return {};
}

}  // namespace penstock::record
