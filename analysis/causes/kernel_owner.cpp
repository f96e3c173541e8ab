#include "analysis/causes/kernel_owner.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace penstock::analysis {
namespace {

/// Recognises NCCL's kernels by their names, which NCCL generates; nothing else identifies them. Names are
/// mangled. Those of symmetric memory are called ncclSymDevKernel in NCCL 2.27, ncclSymkDevKernel since 2.28.
bool is_nccls(std::string_view name) {
  if (name.starts_with("_Z")) {
    name.remove_prefix(std::min(name.find_first_not_of("0123456789", 2), name.size()));
  }
  constexpr std::string_view prefixes[] = {"ncclDevKernel", "ncclKernel", "ncclSymDevKernel",
                                           "ncclSymkDevKernel"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

bool KernelOwner::is_nccl(const trace::DeviceActivity& kernel) {
  const bool* known = is_nccls_.find(kernel.name);
  if (known == nullptr) {
    known = &(is_nccls_[kernel.name] = is_nccls(strings_.at(kernel.name)));
  }
  return *known;
}

}  // namespace penstock::analysis
