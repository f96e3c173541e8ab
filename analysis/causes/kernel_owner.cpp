#include "analysis/causes/kernel_owner.hpp"

#include "analysis/recording/nccl_names.hpp"

namespace penstock::analysis {

bool KernelOwner::is_nccl(const trace::DeviceActivity& kernel) {
  const bool* known = is_nccls_.find(kernel.name);
  if (known == nullptr) {
    known = &(is_nccls_[kernel.name] = is_nccl_kernel(strings_.at(kernel.name)));
  }
  return *known;
}

}  // namespace penstock::analysis
