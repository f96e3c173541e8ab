// Which GPUs of the machine NVLink connects with one of them, by NVML, the library behind nvidia-smi: it
// knows also those that CUDA_VISIBLE_DEVICES hides from this process, of which the driver tells nothing.
#pragma once

#include <string>
#include <vector>

namespace penstock::transports::cuda {

/// `gpu` and the neighbours: UUIDs, spelt as by text_of(). Empty where there are none, and where NVML is not
/// there or does not tell, as in a container that has been given one GPU. Thread: any. Cost: NVML is loaded,
/// started and stopped again, some ten milliseconds; so ask once.
[[nodiscard]] std::vector<std::string> nvlink_neighbours(const std::string& gpu);

}  // namespace penstock::transports::cuda
