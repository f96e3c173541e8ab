// The part of a report about where each rank runs, its cores and GPUs, and its words, which text, JSON and
// page share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace penstock::analysis {

struct Report;

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
[[nodiscard]] std::string address_of(const std::string& gpu);

/// Returns a sentence for each mistake of a launcher: ranks that share a GPU though they see more, ranks that
/// have fewer cores than they are. It names the host that has the most such ranks.
[[nodiscard]] std::vector<std::string> misplaced_texts(const Report& report);

}  // namespace penstock::analysis
