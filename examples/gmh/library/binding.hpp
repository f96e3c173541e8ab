// Binds threads to the cores near their GPUs, by the GPUs' places on the PCI bus.
#pragma once

#include <string>
#include <vector>

namespace gmh {

/// Processor numbers of the operating system.
using Cores = std::vector<int>;

/// Returns the cores near each GPU, given its PCI address. A GPU that hwloc does not find has none, nor has
/// any with GMH_BIND=0.
[[nodiscard]] std::vector<Cores> cores_near(const std::vector<std::string>& pci_addresses);

/// Binds the calling thread to the cores, unless there are none. A refusal of the system is ignored.
void bind_to(const Cores& cores);

}  // namespace gmh
