// Opens NVIDIA's management library (libnvidia-ml) at run time and declares the part of it that Penstock
// asks: a build for the simulated GPU has no NVIDIA headers. It is an ABI: nvidia_abi_test compares it with
// nvml.h where that exists. Must not know the recording.
#pragma once

#include <cstdint>
#include <string>

namespace penstock::record {

namespace nvml {

using Device = struct nvmlDevice_st*;
inline constexpr int success = 0;
inline constexpr unsigned clock_sm = 1;
inline constexpr unsigned clock_memory = 2;
inline constexpr unsigned temperature_gpu = 0;

}  // namespace nvml

/// The library stays loaded until the process ends. Functions of newer drivers or GPUs may be null.
struct NvmlLibrary {
  int (*init)() = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*device_by_pci_bus_id)(const char* bus_id, nvml::Device* device) = nullptr;
  int (*index_of)(nvml::Device device, unsigned* index) = nullptr;
  int (*power_usage)(nvml::Device device, unsigned* milliwatts) = nullptr;
  int (*total_energy)(nvml::Device device, unsigned long long* millijoules) = nullptr;
  int (*clock)(nvml::Device device, unsigned which, unsigned* mhz) = nullptr;
  int (*most_clock)(nvml::Device device, unsigned which, unsigned* mhz) = nullptr;
  int (*throttle_reasons)(nvml::Device device, unsigned long long* reasons) = nullptr;
  int (*temperature)(nvml::Device device, unsigned which, unsigned* celsius) = nullptr;
};

/// Opens `file`, or what the loader finds if it is empty, and initialises it: some ten milliseconds. Returns
/// an empty string, or one line on why `library` was not filled.
[[nodiscard]] std::string open_nvml(const std::string& file, NvmlLibrary& library);
/// Returns the library's words for an error.
[[nodiscard]] std::string words_of(const NvmlLibrary& library, int result);

}  // namespace penstock::record
