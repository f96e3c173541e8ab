// The machine's GPUs, whether this process sees them or not, as the environment describes them:
// SIMULATED_GPU_DEVICES (default 2); SIMULATED_GPU_PEER=0 cuts peer access, SIMULATED_GPU_NVLINK=0 leaves it
// to PCIe.
#pragma once

#include <cuda.h>

#include <string>

namespace simulated_gpu {

[[nodiscard]] long environment_number(const char* name, long otherwise);
/// They are numbered from 0.
[[nodiscard]] int devices_of_machine();
[[nodiscard]] CUuuid uuid_of(int number);
/// As nvidia-smi and CUDA_VISIBLE_DEVICES spell it.
[[nodiscard]] std::string text_of(const CUuuid& uuid);
[[nodiscard]] bool peer_access_exists();
[[nodiscard]] bool nvlink_exists();

}  // namespace simulated_gpu
