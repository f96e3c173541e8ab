// The reductions to all ranks, what they read and write, and which of them the GPU does: Allreduce,
// Reduce_scatter(_block), Scan, Exscan. An operation of the program's own gets host memory only, as the MPI
// library gets nothing else. Only the files that wrap these functions include this one.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/calls/reduction_part.hpp"
#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/reduction_schedule.hpp"
#include "interpose/collectives/schedules/scan_schedule.hpp"
#include "interpose/node/gpu_in_sight.hpp"

namespace penstock::interpose {

/// With MPI_IN_PLACE the input is in the receive buffer.
template <typename Input, typename Output>
void stage_reduction(StagedCall& staged, const void*& send, void*& receive, Input input, Output output) {
  const bool in_place = send == MPI_IN_PLACE;
  staged.read(send, input);
  staged.use(
      receive, [&] { return in_place ? input() : ByteRange(); }, output);
}

inline constexpr auto allreduce = [](const auto& call, const void* send, void* receive, auto count,
                                     MPI_Datatype datatype, MPI_Op operation, MPI_Comm communicator,
                                     auto... request) {
  const Ranks ranks(communicator);
  const auto vector = [&] { return ByteRange(count, datatype); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(count, datatype); });
  const void* const own = send == MPI_IN_PLACE ? receive : send;
  const auto elements = static_cast<std::size_t>(count);
  ReductionPart part(ranks, datatype, operation, count);
  if constexpr (is_blocking_form<decltype(request)...>) part.may_be_on_host(communicator);
  part.offer_kernel(communicator, [&] { return to_all(elements); });
  std::optional<ReductionSchedule::NodeShapes> over_nodes;
  if (part.is_for_gpu()) {
    const NodeMap* const map = node_map_of(communicator);
    if (map != nullptr && map->is_even()) {
      over_nodes = ReductionSchedule::shapes_of(part.shape(), *map);
      part.sends_at_a_time(ReductionSchedule::largest_at_a_time(*over_nodes, elements));
      part.take_place(own, receive, elements, ReductionSchedule::scratch_bytes(*over_nodes, elements));
    } else {
      const std::size_t at_a_time = ReductionSchedule::largest_at_a_time(part.shape(), elements);
      part.sends_at_a_time(at_a_time);
      part.take_place(own, receive, elements, ReductionSchedule::scratch_bytes(part.shape(), at_a_time));
    }
  }
  const auto schedule = [&] {
    return part.around(over_nodes
                           ? ReductionSchedule::all_to_all_over_nodes(*over_nodes, part.take_place_away(),
                                                                      part.own(), part.result(), elements)
                           : ReductionSchedule::all_to_all(part.shape(), part.take_place_away(), part.own(),
                                                           part.result(), elements));
  };
  CallOutcome outcome =
      call.by_schedule(communicator, part.buffers(own, count, datatype), schedule, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  stage_reduction(staged, send, receive, vector, vector);
  return call.run(std::move(outcome), std::move(staged), communicator, send, receive, count, datatype,
                  operation, communicator, request...);
};

template <typename Call, typename... Request>
CallOutcome scan_on_gpu(const Call& call, const Ranks& ranks, Prefix prefix, const void* send, void* receive,
                        MPI_Count count, MPI_Datatype datatype, MPI_Op operation, MPI_Comm communicator,
                        Request... request) {
  const void* const own = send == MPI_IN_PLACE ? receive : send;
  ReductionPart part(ranks, datatype, operation, count);
  if constexpr (is_blocking_form<Request...>) part.may_be_on_host(communicator);
  const ScanShape shape{part.shape(), static_cast<std::size_t>(count), prefix};
  const bool has_result = !shape.is_first() || prefix == Prefix::inclusive;
  part.offer_kernel(communicator, [&] {
    KernelPart scanned = to_all(shape.count);
    scanned.combined = static_cast<std::uint32_t>(ranks.rank + (prefix == Prefix::inclusive ? 1 : 0));
    return scanned;
  });
  if (!shape.is_first()) {
    part.take_place(own, receive, shape.count, shape.scratch_bytes());
  } else {
    part.combine_nothing(own, has_result ? receive : nullptr);
  }
  const auto schedule = [&] {
    return part.around(ScanSchedule(shape, part.take_place_away(), part.own(), part.result()));
  };
  return call.by_schedule(communicator, part.buffers(own, count, datatype), schedule, request...);
}

/// Scan: a vector in, a vector out.
inline constexpr auto scan = [](const auto& call, const void* send, void* receive, auto count,
                                MPI_Datatype datatype, MPI_Op operation, MPI_Comm communicator,
                                auto... request) {
  const Ranks ranks(communicator);
  const auto vector = [&] { return ByteRange(count, datatype); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(count, datatype); });
  CallOutcome outcome = scan_on_gpu(call, ranks, Prefix::inclusive, send, receive, count, datatype, operation,
                                    communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  stage_reduction(staged, send, receive, vector, vector);
  return call.run(std::move(outcome), std::move(staged), communicator, send, receive, count, datatype,
                  operation, communicator, request...);
};

/// The first rank's receive buffer stays as it is.
inline constexpr auto exscan = [](const auto& call, const void* send, void* receive, auto count,
                                  MPI_Datatype datatype, MPI_Op operation, MPI_Comm communicator,
                                  auto... request) {
  const Ranks ranks(communicator);
  const auto vector = [&] { return ByteRange(count, datatype); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(count, datatype); });
  CallOutcome outcome = scan_on_gpu(call, ranks, Prefix::exclusive, send, receive, count, datatype, operation,
                                    communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  stage_reduction(staged, send, receive, vector, [&] { return ranks.rank == 0 ? ByteRange() : vector(); });
  return call.run(std::move(outcome), std::move(staged), communicator, send, receive, count, datatype,
                  operation, communicator, request...);
};

/// Each rank gets its part, from all.
inline KernelPart shares_of(const std::vector<ElementRange>& ranges, int rank) noexcept {
  KernelPart part;
  part.parts.is_for_each = true;
  for (std::size_t i = 0; i < ranges.size(); ++i) part.parts.sent[i] = ranges[i].count;
  std::ranges::fill(part.parts.received, part.parts.sent[rank]);
  return part;
}

/// `count_of` a rank.
template <typename Call, typename CountOf, typename... Request>
CallOutcome reduce_scatter_on_gpu(const Call& call, const Ranks& ranks, const void* send, void* receive,
                                  CountOf count_of, MPI_Datatype datatype, MPI_Op operation,
                                  MPI_Comm communicator, Request... request) {
  if (!is_gpu_in_sight()) return {};
  std::vector<ElementRange> ranges;
  std::size_t total = 0;
  std::size_t largest = 0;
  std::uint64_t shares = 0;
  bool are_valid = true;
  for (int rank = 0; rank < ranks.local; ++rank) {
    are_valid = are_valid && count_of(rank) >= 0;
    const auto count = static_cast<std::size_t>(are_valid ? count_of(rank) : 0);
    ranges.push_back({total, count});
    shares = shares * 31 + count;
    total += count;
    largest = std::max(largest, count);
  }
  const void* const own = send == MPI_IN_PLACE ? receive : send;
  const auto count = static_cast<MPI_Count>(total);
  ReductionPart part(ranks, datatype, operation, are_valid ? count : 0);
  if constexpr (is_blocking_form<Request...>) part.may_be_on_host(communicator);
  // in place its own result must not overwrite parts that have still to be sent
  const bool lies_apart = send != MPI_IN_PLACE || ranges.empty() ||
                          ranges[static_cast<std::size_t>(ranks.rank)].count <= ranges.front().count;
  if (are_valid && lies_apart) part.offer_kernel(communicator, [&] { return shares_of(ranges, ranks.rank); });
  if (part.is_for_gpu()) {
    part.sends_at_a_time(largest);
    part.take_place(own, receive, ranges[static_cast<std::size_t>(ranks.rank)].count,
                    ReductionSchedule::scratch_bytes(part.shape(), largest));
  }
  const auto schedule = [&] {
    return part.around(ReductionSchedule::scatter(part.shape(), part.take_place_away(), part.own(),
                                                  part.result(), std::move(ranges)));
  };
  return call.by_schedule(communicator, part.buffers(own, count, datatype, shares), schedule, request...);
}

inline constexpr auto reduce_scatter = [](const auto& call, const void* send, void* receive,
                                          const auto* counts, MPI_Datatype datatype, MPI_Op operation,
                                          MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const auto total = [&] { return std::accumulate(counts, counts + ranks.local, MPI_Count{0}); };
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(total(), datatype); });
  CallOutcome outcome = reduce_scatter_on_gpu(
      call, ranks, send, receive, [&](int rank) { return static_cast<MPI_Count>(counts[rank]); }, datatype,
      operation, communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  stage_reduction(
      staged, send, receive, [&] { return ByteRange(total(), datatype); },
      [&] { return ranks.rank < 0 ? ByteRange() : ByteRange(counts[ranks.rank], datatype); });
  return call.run(std::move(outcome), std::move(staged), communicator, send, receive, counts, datatype,
                  operation, communicator, request...);
};

inline constexpr auto reduce_scatter_block = [](const auto& call, const void* send, void* receive, auto count,
                                                MPI_Datatype datatype, MPI_Op operation,
                                                MPI_Comm communicator, auto... request) {
  const Ranks ranks(communicator);
  const MPI_Count total = static_cast<MPI_Count>(count) * ranks.local;
  StagedCall staged = call.begin(communicator, no_root, [&] { return payload_bytes(total, datatype); });
  CallOutcome outcome = reduce_scatter_on_gpu(
      call, ranks, send, receive, [&](int) { return static_cast<MPI_Count>(count); }, datatype, operation,
      communicator, request...);
  if (outcome.code) return *outcome.code;
  outcome.uses(datatype);
  stage_reduction(
      staged, send, receive, [&] { return ByteRange(total, datatype); },
      [&] { return ByteRange(count, datatype); });
  return call.run(std::move(outcome), std::move(staged), communicator, send, receive, count, datatype,
                  operation, communicator, request...);
};

}  // namespace penstock::interpose
