#include "transports/cuda/nvlink_neighbours.hpp"

#include <dlfcn.h>

#include <utility>

#include "transports/cuda/symbol.hpp"

namespace penstock::transports::cuda {
namespace {

// What is used of NVML's interface, whose header is no part of a minimal CUDA toolkit.
// Source: https://docs.nvidia.com/deploy/nvml-api
using NvmlDevice = struct NvmlDeviceHandle*;
constexpr int nvml_success = 0;
constexpr int p2p_by_nvlink = 2;          // NVML_P2P_CAPS_INDEX_NVLINK
constexpr int p2p_status_ok = 0;          // NVML_P2P_STATUS_OK
constexpr unsigned uuid_text_bytes = 96;  // NVML_DEVICE_UUID_V2_BUFFER_SIZE

struct Nvml {
  int (*init)() = nullptr;
  int (*shut_down)() = nullptr;
  int (*count)(unsigned* devices) = nullptr;
  int (*device_at)(unsigned index, NvmlDevice* device) = nullptr;
  int (*uuid_of)(NvmlDevice device, char* text, unsigned bytes) = nullptr;
  int (*p2p_status)(NvmlDevice device, NvmlDevice peer, int capability, int* status) = nullptr;
};

/// Stays loaded. False: it is not there, or too old.
bool load(Nvml& nvml) noexcept {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library != nullptr && find_symbol(library, "nvmlInit_v2", nvml.init) &&
         find_symbol(library, "nvmlShutdown", nvml.shut_down) &&
         find_symbol(library, "nvmlDeviceGetCount_v2", nvml.count) &&
         find_symbol(library, "nvmlDeviceGetHandleByIndex_v2", nvml.device_at) &&
         find_symbol(library, "nvmlDeviceGetUUID", nvml.uuid_of) &&
         find_symbol(library, "nvmlDeviceGetP2PStatus", nvml.p2p_status);
}

/// NVML counts how often it was started, so the application's own use of it is not disturbed.
class StartedNvml {
 public:
  explicit StartedNvml(const Nvml& nvml) noexcept : nvml_(nvml), started_(nvml.init() == nvml_success) {}
  ~StartedNvml() {
    if (started_) nvml_.shut_down();
  }
  StartedNvml(const StartedNvml&) = delete;
  StartedNvml& operator=(const StartedNvml&) = delete;

  struct Gpu {
    NvmlDevice device = nullptr;
    std::string uuid;
  };
  [[nodiscard]] std::vector<Gpu> gpus() const {
    std::vector<Gpu> all;
    unsigned devices = 0;
    if (!started_ || nvml_.count(&devices) != nvml_success) return all;
    for (unsigned index = 0; index < devices; ++index) {
      Gpu gpu;
      char text[uuid_text_bytes] = {};
      if (nvml_.device_at(index, &gpu.device) != nvml_success ||
          nvml_.uuid_of(gpu.device, text, sizeof text) != nvml_success) {
        continue;
      }
      gpu.uuid = text;
      all.push_back(std::move(gpu));
    }
    return all;
  }
  [[nodiscard]] bool are_connected(const Gpu& gpu, const Gpu& peer) const noexcept {
    int status = -1;
    return nvml_.p2p_status(gpu.device, peer.device, p2p_by_nvlink, &status) == nvml_success &&
           status == p2p_status_ok;
  }

 private:
  const Nvml& nvml_;
  const bool started_;
};

}  // namespace

std::vector<std::string> nvlink_neighbours(const std::string& gpu) {
  std::vector<std::string> neighbours;
  Nvml nvml;
  if (!load(nvml)) return neighbours;
  const StartedNvml started(nvml);
  const std::vector<StartedNvml::Gpu> all = started.gpus();
  for (const StartedNvml::Gpu& each : all) {
    if (each.uuid != gpu) continue;
    for (const StartedNvml::Gpu& peer : all) {
      if (peer.uuid != gpu && started.are_connected(each, peer)) neighbours.push_back(peer.uuid);
    }
  }
  return neighbours;
}

}  // namespace penstock::transports::cuda
