// The part of a report about where each rank runs: its cores and GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::analysis {

struct PlacementFigures {
  std::int32_t rank = 0;
  std::string host;
  /// PCI address and identity, "0000:01:00.0 1b4e…", of each GPU that it has used; empty: none, or it never
  /// ended.
  std::vector<std::string> gpus;
  std::uint64_t visible_gpus = 0;  ///< that CUDA shows to it; 0: not known
  std::string cores;               ///< that the launcher has given it, "0-3,8"; empty: not known

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(rank, host, gpus, visible_gpus, cores);
  }
};

/// Returns the PCI address of such a GPU.
[[nodiscard]] inline std::string address_of(const std::string& gpu) {
  return gpu.substr(0, gpu.find(' '));
}

}  // namespace penstock::analysis
