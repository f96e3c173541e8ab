// Which kernels had to wait for kernels of other streams, as cudaStreamWaitEvent made them. A recording has
// the call and the stream that waits, but not the event: so what it waits for is inferred. Knows no graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Whether it is cudaStreamWaitEvent, in which the host does not wait.
[[nodiscard]] bool is_stream_wait(const RankTrace& rank, const trace::CudaSynchronisation& call);

/// Pairs of indices in `kernels`: one that waited, and one that it waited for. An event is taken to be that
/// of the last kernel launched on another stream before the call; of several calls in a row, each is taken
/// for another stream. Where the recording shows that a kernel did not wait, there is no pair.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> stream_waits(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels);

/// Pairs of an index in `rank.synchronisations` and one in `kernels`: the call returns when the kernel has
/// ended, whether or not it found it running. Of calls that wait for a stream or for all of them; which event
/// others wait for is not recorded.
[[nodiscard]] std::vector<std::pair<std::size_t, std::size_t>> synchronised_kernels(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels);

/// Of each kernel, a time by which it had been launched: a later call that is recorded had begun. The largest
/// number where there is none.
[[nodiscard]] std::vector<std::uint64_t> launched_by_ns(
    const RankTrace& rank, const std::vector<const trace::DeviceActivity*>& kernels);

}  // namespace penstock::analysis
