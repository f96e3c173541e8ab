// Tells whether a receive was posted behind a kernel although its message had been posted before that kernel.
// Must not know sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/joining/messages.hpp"

namespace penstock::analysis {

struct LateReceive {
  std::uint32_t half;     ///< index in RankTrace::halves
  std::uint64_t sent_ns;  ///< by the receiver's clock, at the latest
  std::uint64_t posted_ns;
  std::uint64_t kernels_ns;    ///< that kernels ran in between
  std::uint32_t posting_call;  ///< index in RankTrace::calls
};

/// Looks at the receive that completes last in a call: the others do not lengthen it. `position`: of the rank
/// in the index.
[[nodiscard]] std::optional<LateReceive> late_receive_in(const RankTrace& rank, std::size_t position,
                                                         const Timeline& timeline, const CauseFinder& finder,
                                                         const MessageIndex& index, std::uint32_t call);

}  // namespace penstock::analysis
