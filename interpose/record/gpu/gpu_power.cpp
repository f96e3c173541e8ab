#include "interpose/record/gpu/gpu_power.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/gpu/cuda_presence.hpp"
#include "interpose/record/gpu/nvml_library.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/background_thread.hpp"

namespace penstock::record {

namespace {

using namespace std::chrono_literals;

/// Drivers renew these figures 10 to 50 times a second.
constexpr auto sample_period = 100ms;
/// A driver that does not answer must not hold up MPI_Finalize for longer.
constexpr auto longest_stop = 1s;

/// What does not change of a GPU in use.
struct SampledGpu {
  int ordinal;          ///< CUDA's
  nvml::Device device;  ///< null: NVML does not know it
  std::uint32_t bus_id;
  std::uint16_t index;
  std::uint16_t most_sm_mhz;
};

/// Returns 0 if the function is missing or fails.
template <typename Value>
Value answer_of(int (*function)(nvml::Device, Value*), nvml::Device device) noexcept {
  Value value{};
  return function != nullptr && function(device, &value) == nvml::success ? value : Value{};
}

unsigned answer_of(int (*function)(nvml::Device, unsigned, unsigned*), nvml::Device device,
                   unsigned which) noexcept {
  unsigned value = 0;
  return function != nullptr && function(device, which, &value) == nvml::success ? value : 0;
}

std::uint16_t narrow(unsigned value) noexcept {
  return static_cast<std::uint16_t>(std::min(value, unsigned{std::numeric_limits<std::uint16_t>::max()}));
}

class GpuPower {
 public:
  void start(std::string file);
  void stop() noexcept;

 private:
  void sample_until_stopped() noexcept;
  void notice_gpus_in_use();
  void sample() noexcept;

  std::string file_;
  NvmlLibrary nvml_;
  std::vector<SampledGpu> gpus_;
  std::counting_semaphore<> wake_{0};
  std::binary_semaphore ended_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

/// Never destroyed, as a thread that waits for the driver may outlive all else.
std::atomic<GpuPower*> gpu_power{nullptr};
std::atomic<bool> power_was_tried{false};

void GpuPower::start(std::string file) {
  file_ = std::move(file);
  thread_ = start_background_thread("penstock-power", [this] {
    sample_until_stopped();
    ended_.release();
  });
}

void GpuPower::stop() noexcept {
  if (stopping_.exchange(true)) return;
  wake_.release();
  if (ended_.try_acquire_for(longest_stop)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void GpuPower::sample_until_stopped() noexcept try {
  if (std::string why = open_nvml(file_, nvml_); !why.empty()) {
    write_fact("no_gpu_power", why);
    return;
  }
  std::atexit(stop_gpu_power);  // runs before what NVML and CUDA do at the end of the process
  for (bool is_last = false; is_on(); is_last = wake_.try_acquire_for(sample_period)) {
    notice_gpus_in_use();
    sample();
    if (is_last) return;
  }
} catch (...) {
  write_fact("no_gpu_power", "out of memory");
}

void GpuPower::notice_gpus_in_use() {
  for (const CudaDevice& each : cuda_devices_in_use()) {
    const auto is_it = [&](const SampledGpu& known) { return known.ordinal == each.ordinal; };
    if (std::any_of(gpus_.begin(), gpus_.end(), is_it)) continue;
    SampledGpu gpu{each.ordinal, nullptr, 0, 0, 0};
    const int result = nvml_.device_by_pci_bus_id(each.pci_bus_id, &gpu.device);
    if (result != nvml::success) {
      gpu.device = nullptr;
      write_fact("no_gpu_power", "NVML does not tell of GPU " + std::string(each.pci_bus_id) + ": " +
                                     words_of(nvml_, result));
    } else {
      gpu.bus_id = intern(each.pci_bus_id);
      gpu.index = narrow(answer_of(nvml_.index_of, gpu.device));
      gpu.most_sm_mhz = narrow(answer_of(nvml_.most_clock, gpu.device, nvml::clock_sm));
    }
    gpus_.push_back(gpu);
  }
}

/// Ten a second are few beside all else, and have no block of their own, but in a day they are 55 MB: where
/// records are overwritten, these are, too.
void record_sample(const trace::GpuSample& sample) noexcept {
  if (!is_on()) return;  // after a late answer the recording may be closed
  if (!recording().retired().is_open()) {
    static_cast<void>(recording().write_rare(&sample, 1));
    return;
  }
  if (Lane* const lane = lane_of_this_thread()) lane->belongs_to_recorder();
  write(sample);
}

void GpuPower::sample() noexcept {
  for (const SampledGpu& gpu : gpus_) {
    if (gpu.device == nullptr) continue;
    trace::GpuSample sample{};
    sample.begin_ns = now_ns();
    sample.energy_mj = answer_of(nvml_.total_energy, gpu.device);
    sample.throttle_reasons = answer_of(nvml_.throttle_reasons, gpu.device);
    sample.power_mw = answer_of(nvml_.power_usage, gpu.device);
    sample.sm_mhz = narrow(answer_of(nvml_.clock, gpu.device, nvml::clock_sm));
    sample.memory_mhz = narrow(answer_of(nvml_.clock, gpu.device, nvml::clock_memory));
    sample.temperature_c = static_cast<std::uint8_t>(
        std::min(255u, answer_of(nvml_.temperature, gpu.device, nvml::temperature_gpu)));
    sample.gpu = gpu.bus_id;
    sample.index = gpu.index;
    sample.most_sm_mhz = gpu.most_sm_mhz;
    sample.kind = trace::RecordKind::gpu_sample;
    sample.end_ns = now_ns();
    record_sample(sample);
  }
}

}  // namespace

void start_gpu_power() noexcept try {
  const char* const named = std::getenv("PENSTOCK_NVML");
  const std::string_view file = named == nullptr ? "" : named;
  if (file == "none" || (gpu_is_simulated && file.empty()) || power_was_tried.exchange(true)) return;
  auto* const started = new GpuPower;
  started->start(std::string(file));
  gpu_power.store(started, std::memory_order_release);
} catch (...) {
  write_fact("no_gpu_power", "no thread could be started");
}

void stop_gpu_power() noexcept {
  GpuPower* const running = gpu_power.load(std::memory_order_acquire);
  if (running != nullptr && recording().file().belongs_to_this_process()) running->stop();
}

}  // namespace penstock::record
