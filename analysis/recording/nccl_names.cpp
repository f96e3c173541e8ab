#include "analysis/recording/nccl_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace penstock::analysis {
namespace {

constexpr std::array<std::string_view, nccl_kinds> kind_names = {
    "AllGather",     "AllReduce", "AlltoAll", "Broadcast", "Gather",  "Reduce",
    "ReduceScatter", "Scatter",   "SendRecv", "several",   "unknown", "none"};

/// Kernels for symmetric memory are called ncclSymDevKernel in NCCL 2.27, and ncclSymkDevKernel since 2.28.
constexpr std::string_view kernel_prefixes[] = {"ncclDevKernel", "ncclKernel", "ncclSymDevKernel",
                                                "ncclSymkDevKernel"};

/// Returns the name of a function without its parameters.
std::string_view kernel_function_of(std::string_view name) noexcept {
  if (!name.starts_with("_Z")) {
    return name.substr(0, name.find('('));
  }
  std::size_t length = 0;
  for (name.remove_prefix(2); !name.empty() && name[0] >= '0' && name[0] <= '9'; name.remove_prefix(1)) {
    length = std::min<std::size_t>(10 * length + static_cast<std::size_t>(name[0] - '0'), name.size());
  }
  return name.substr(0, length);
}

const std::string_view* prefix_of(std::string_view name) noexcept {
  const auto found = std::find_if(std::begin(kernel_prefixes), std::end(kernel_prefixes),
                                  [name](std::string_view prefix) { return name.starts_with(prefix); });
  return found == std::end(kernel_prefixes) ? nullptr : &*found;
}

/// Returns the kind of that name, of those that move something.
NcclKind kind_named(std::string_view name) noexcept {
  const auto end = kind_names.begin() + static_cast<std::ptrdiff_t>(NcclKind::several);
  const auto found = std::find(kind_names.begin(), end, name);
  return found == end ? NcclKind::unknown : static_cast<NcclKind>(found - kind_names.begin());
}

}  // namespace

std::string_view name_of(NcclKind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

bool is_nccl_kernel(std::string_view name) noexcept {
  return prefix_of(kernel_function_of(name)) != nullptr;
}

NcclKind nccl_kind_of_kernel(std::string_view name) noexcept {
  name = kernel_function_of(name);
  const std::string_view* const prefix = prefix_of(name);
  if (prefix == nullptr) {
    return NcclKind::none;
  }
  name.remove_prefix(prefix->size());
  if (!name.starts_with('_')) {
    return NcclKind::unknown;
  }
  name.remove_prefix(1);
  return kind_named(name.substr(0, name.find('_')));
}

NcclKind nccl_kind_of_function(std::string_view name) noexcept {
  constexpr std::string_view prefix = "nccl";
  if (!name.starts_with(prefix)) {
    return NcclKind::none;
  }
  name.remove_prefix(prefix.size());
  if (name == "Send" || name == "Recv") {
    return NcclKind::send_receive;
  }
  const NcclKind kind = kind_named(name == "Bcast" ? "Broadcast" : name);
  return is_collective(kind) ? kind : NcclKind::none;
}

}  // namespace penstock::analysis
