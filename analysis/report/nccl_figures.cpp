#include "analysis/report/nccl_figures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {

std::vector<std::string> unknowns_of(const NcclFigures& nccl) {
  std::vector<std::string> unknowns;
  NcclKindFigures all;
  for (const NcclKindFigures& each : nccl.kinds) {
    all.calls += each.calls;
    all.calls_without_bytes += each.calls_without_bytes;
    all.kernels += each.kernels;
    all.joined_kernels += each.joined_kernels;
  }
  if (nccl.ranks_without_calls != 0) {
    unknowns.push_back(fmt::format(
        "NCCL told nothing of its calls on {} rank{} (NCCL_NVTX_DISABLE is set, or NVTX goes to another "
        "tool): their kinds are those in the names of kernels, bytes and who came late are not known.",
        count_text(nccl.ranks_without_calls), nccl.ranks_without_calls == 1 ? "" : "s"));
  }
  if (all.calls_without_bytes != 0) {
    unknowns.push_back(
        fmt::format("The bytes of {} of {} calls are not known: NCCL before 2.19 does not tell them.",
                    count_text(all.calls_without_bytes), count_text(all.calls)));
  }
  if (all.calls != 0 && all.kernels == 0) {
    unknowns.push_back("NCCL's kernels were not recorded.");
  } else if (all.calls != 0 && all.joined_kernels < all.kernels) {
    unknowns.push_back(fmt::format(
        "Of {} of {} kernels it is not known when the other ranks' began: NCCL before 2.25 does not tell the "
        "communicator; or a CUDA graph launched them, a rank has several GPUs in a communicator or no "
        "recording, or "
        "several kernels did the calls of one group.",
        count_text(all.kernels - all.joined_kernels), count_text(all.kernels)));
  }
  return unknowns;
}

}  // namespace penstock::analysis
