#include "device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string_view>

#include "call.hpp"
#include "machine.hpp"

namespace simulated_gpu {
namespace {

constexpr std::size_t default_memory_mib = 8192;

/// As NVIDIA's: the list ends at the first entry that names no device.
std::vector<int> visible_numbers(int count) {
  std::vector<int> numbers;
  const char* variable = std::getenv("CUDA_VISIBLE_DEVICES");
  if (variable == nullptr) {
    for (int number = 0; number < count; ++number) numbers.push_back(number);
    return numbers;
  }
  std::string_view list = variable;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string entry(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    int chosen = -1;
    for (int number = 0; number < count; ++number) {
      const bool by_uuid = entry.starts_with("GPU-") && text_of(uuid_of(number)).starts_with(entry);
      if (by_uuid || entry == std::to_string(number)) chosen = number;
    }
    if (chosen < 0 || std::find(numbers.begin(), numbers.end(), chosen) != numbers.end()) break;
    numbers.push_back(chosen);
  }
  return numbers;
}

std::deque<Device>& devices() {
  static std::deque<Device>& all = *[] {
    auto* made = new std::deque<Device>;  // never freed: workers may use them until the process ends
    for (const int number : visible_numbers(devices_of_machine())) {
      Device& device = made->emplace_back();
      device.ordinal = static_cast<int>(made->size()) - 1;
      device.number = number;
      device.uuid = uuid_of(number);
      device.name = "Simulated GPU";
      char bus_id[16];
      std::snprintf(bus_id, sizeof bus_id, "0000:%02X:00.0", static_cast<unsigned>(number + 1));
      device.pci_bus_id = bus_id;
      device.memory_bytes = static_cast<std::size_t>(environment_number(
                                "SIMULATED_GPU_MEMORY_MIB", static_cast<long>(default_memory_mib)))
                            << 20;
    }
    return made;
  }();
  return all;
}

}  // namespace

void Device::take(std::size_t bytes) {
  const std::size_t before = used_bytes.fetch_add(bytes);
  if (before + bytes > memory_bytes) {
    used_bytes.fetch_sub(bytes);
    throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
  }
}

void Device::give_back(std::size_t bytes) noexcept {
  used_bytes.fetch_sub(bytes);
}

int device_count() {
  return static_cast<int>(devices().size());
}

Device& device_at(int ordinal) {
  require(ordinal >= 0 && ordinal < device_count(), CUDA_ERROR_INVALID_DEVICE);
  return devices()[static_cast<std::size_t>(ordinal)];
}

}  // namespace simulated_gpu
