#include "interpose/record/run/placement.hpp"

#include <cerrno>
#include <cstddef>
#include <memory>

namespace penstock::record {

namespace {

constexpr std::size_t most_cores = std::size_t{1} << 16;  ///< far more than Linux can have

struct FreeSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

}  // namespace

std::string text_of_cores(const cpu_set_t& set, std::size_t cores) {
  const std::size_t bytes = CPU_ALLOC_SIZE(cores);
  const auto holds = [&](std::size_t core) { return core < cores && CPU_ISSET_S(core, bytes, &set) != 0; };
  std::string text;
  for (std::size_t first = 0; first < cores; ++first) {
    if (!holds(first)) continue;
    std::size_t last = first;
    while (holds(last + 1)) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last != first) text += "-" + std::to_string(last);
    first = last;
  }
  return text;
}

std::string allowed_cores() {
  // The kernel refuses sets that are smaller than its own.
  for (std::size_t cores = CPU_SETSIZE; cores <= most_cores; cores *= 2) {
    const std::unique_ptr<cpu_set_t, FreeSet> set(CPU_ALLOC(cores));
    if (set == nullptr) return {};
    if (sched_getaffinity(0, CPU_ALLOC_SIZE(cores), set.get()) == 0) return text_of_cores(*set, cores);
    if (errno != EINVAL) return {};
  }
  return {};
}

std::vector<std::string> gpus_in_use() {
  std::vector<std::string> gpus;
  for (const CudaDevice& each : cuda_devices_in_use())
    gpus.push_back(std::string(each.pci_bus_id) + " " + identity_of(each));
  return gpus;
}

}  // namespace penstock::record
