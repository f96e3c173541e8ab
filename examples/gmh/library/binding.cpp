#include "examples/gmh/library/binding.hpp"

#include <hwloc.h>
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace gmh {
namespace {

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const noexcept { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, TopologyDeleter>;

/// Loads the topology with PCI devices. The GPU vendors' libraries are left out, since they would create
/// contexts.
Topology load_topology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0) return nullptr;
  Topology topology(made);
  for (const char* asked : {"cuda", "nvml", "opencl", "gl", "rsmi", "levelzero"})
    hwloc_topology_set_components(made, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, asked);
  hwloc_topology_set_io_types_filter(made, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  return hwloc_topology_load(made) == 0 ? std::move(topology) : nullptr;
}

}  // namespace

std::vector<Cores> cores_near(const std::vector<std::string>& pci_addresses) {
  std::vector<Cores> cores(pci_addresses.size());
  const char* wanted = std::getenv("GMH_BIND");
  if (wanted != nullptr && std::strcmp(wanted, "0") == 0) return cores;
  const Topology topology = load_topology();
  if (topology == nullptr) return cores;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology.get(), pci_addresses[i].c_str());
    hwloc_obj_t near = device == nullptr ? nullptr : hwloc_get_non_io_ancestor_obj(topology.get(), device);
    if (near == nullptr || near->cpuset == nullptr) continue;
    for (int core = hwloc_bitmap_first(near->cpuset); core >= 0; core = hwloc_bitmap_next(near->cpuset, core))
      cores[i].push_back(core);
  }
  return cores;
}

void bind_to(const Cores& cores) {
  if (cores.empty()) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core < CPU_SETSIZE) CPU_SET(core, &set);
  }
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace gmh
