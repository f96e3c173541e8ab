// Infers which kernels had to wait for kernels of other streams because of cudaStreamWaitEvent. A recording
// has the call and the stream that waits, but not the event. Must not know the graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Returns pairs of indices in `kernels`: one that waited, and one that it waited for. The event is assumed
/// to be that of the last kernel launched on another stream before the call; several calls in a row are
/// assumed to be for different streams. If the recording shows that a kernel did not wait, there is no pair.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> stream_waits(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels);

/// Returns pairs of an index in `rank.synchronisations` and one in `kernels`: the call returns when the
/// kernel has ended, whether or not the kernel still ran at its begin. Covers calls that wait for one stream
/// or for all; which event other calls wait for is not recorded.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> synchronised_kernels(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels);

/// Returns for each kernel a time by which it had been launched: a later recorded call had begun. The largest
/// number if there is none.
[[nodiscard]] std::vector<std::uint64_t> launched_by_ns(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels);

}  // namespace penstock::analysis
