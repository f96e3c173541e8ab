// What a launcher did wrong when it placed the ranks, in words that text, JSON and page share.
#pragma once

#include <string>
#include <vector>

namespace penstock::analysis {

struct Report;

/// Returns a sentence for each mistake: ranks that share a GPU though they see more, ranks that have fewer
/// cores than they are. It names the host that has the most such ranks.
[[nodiscard]] std::vector<std::string> misplaced_texts(const Report& report);

/// Returns true if kernels of several ranks take turns on a GPU, meant so or not.
[[nodiscard]] bool ranks_share_gpus(const Report& report);

}  // namespace penstock::analysis
