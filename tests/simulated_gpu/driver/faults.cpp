#include "faults.hpp"

#include <cstdlib>

#include "simulated_gpu.h"
#include "tests/support/fault_table.hpp"

namespace simulated_gpu {
namespace {

/// Never destroyed: calls may come until the process ends.
penstock::test_support::FaultTable& faults() {
  static auto& table = *new penstock::test_support::FaultTable("simulated GPU: SIMULATED_GPU_FAULTS",
                                                               std::getenv("SIMULATED_GPU_FAULTS"));
  return table;
}

}  // namespace

CUresult injected_fault(const char* function) noexcept {
  return static_cast<CUresult>(faults().error_of(function));
}

}  // namespace simulated_gpu

int simulated_gpu_injected_fault(const char* function) {
  return simulated_gpu::injected_fault(function);
}
