#include "tests/analysis/simulated_job.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::analysis::testing {
namespace {

using trace::Direction;

constexpr std::uint64_t launch_ns = 100;
constexpr std::uint64_t between_calls_ns = 50;

void synchronise(RecordingBuilder& rank, std::uint64_t begin, std::uint64_t end) {
  trace::CudaSynchronisation record{};
  record.begin_ns = origin_ns + begin;
  record.end_ns = origin_ns + end;
  record.what = rank.text("stream");
  record.kind = trace::RecordKind::cuda_synchronisation;
  rank.raw(record);
}

/// Half of the steps reduce by a non-blocking call that is waited for at once.
void reduce(RecordingBuilder& rank, std::uint64_t begin, std::uint64_t end, std::uint32_t ordinal) {
  if (ordinal % 2 == 0) {
    rank.call({.function = "MPI_Allreduce",
               .begin = begin,
               .end = end,
               .bytes = 8,
               .call_site = 0x20,
               .collective_ordinal = ordinal});
    return;
  }
  rank.call({.function = "MPI_Iallreduce",
             .begin = begin - 20,
             .end = begin - 10,
             .bytes = 8,
             .call_site = 0x20,
             .collective_ordinal = ordinal,
             .waits = 0})
      .call({.function = "MPI_Wait", .begin = begin, .end = end, .call_site = 0x21})
      .operation({.function = "MPI_Iallreduce",
                  .post = begin - 20,
                  .complete = end,
                  .collective_ordinal = ordinal,
                  .call_site = 0x20});
}

}  // namespace

Simulated simulate(const Model& model) {
  const std::size_t count = model.kernel_ns.size();
  Simulated result;
  for (std::size_t rank = 0; rank < count; ++rank) {
    result.ranks.emplace_back(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(count));
  }
  std::vector<std::uint64_t> now(count, 0);
  for (std::uint64_t step = 0; step < model.steps; ++step) {
    const bool moves_by_penstock = model.staged_wire_ns != 0;
    const trace::BufferKind buffer =
        moves_by_penstock ? trace::BufferKind::device : trace::BufferKind::pageable;
    const bool is_staged = moves_by_penstock && step % 2 == 1;
    std::vector<std::uint64_t> kernel_end(count);
    std::vector<std::uint64_t> posted(count);
    for (std::size_t rank = 0; rank < count; ++rank) {
      now[rank] += model.host_ns;
      const std::uint64_t begin = now[rank] + launch_ns;
      const bool is_swapped = model.kernels_alternate && step % 2 == 1;
      kernel_end[rank] = begin + model.kernel_ns[is_swapped ? count - 1 - rank : rank];
      result.ranks[rank].kernel(begin, kernel_end[rank], "update");
      now[rank] += 2 * launch_ns;
      if (!model.overlaps) {
        const std::uint64_t end = std::max(kernel_end[rank], now[rank]);
        synchronise(result.ranks[rank], now[rank], end);
        now[rank] = end;
      }
      posted[rank] = now[rank];
    }
    for (std::size_t rank = 0; rank < count && model.has_messages; ++rank) {
      const std::size_t left = (rank + count - 1) % count;
      const std::size_t right = (rank + 1) % count;
      const std::uint64_t all_posted = std::max({posted[rank], posted[left], posted[right]});
      const std::uint64_t end = all_posted + (is_staged ? model.staged_wire_ns : model.wire_ns);
      RecordingBuilder& builder = result.ranks[rank];
      const auto key = [step](std::size_t sender) { return (std::uint64_t{sender} + 1) << 40 | (step + 1); };
      builder
          .call({.function = "MPI_Sendrecv",
                 .begin = posted[rank],
                 .end = end,
                 .bytes = 8192,
                 .call_site = 0x10})
          .half({.direction = Direction::send,
                 .peer = static_cast<std::int32_t>(right),
                 .post = posted[rank],
                 .complete = end,
                 .bytes = 4096,
                 .key = key(rank),
                 .buffer = buffer})
          .half({.direction = Direction::receive,
                 .peer = static_cast<std::int32_t>(left),
                 .post = posted[rank],
                 .complete = end,
                 .bytes = 4096,
                 .key = key(left),
                 .buffer = buffer});
      if (moves_by_penstock) {
        builder.transfer({.begin = all_posted,
                          .end = end,
                          .bytes = 4096,
                          .key = key(left),
                          .transport = is_staged ? trace::TransportKind::staged : model.others,
                          .reason = "as asked",
                          .packed_words = is_staged ? model.staged_packed_words : 0});
      }
      now[rank] = end;
    }
    for (std::size_t rank = 0; rank < count && model.overlaps; ++rank) {
      const std::uint64_t synchronised = std::max(kernel_end[rank], now[rank]);
      synchronise(result.ranks[rank], now[rank], synchronised);
      now[rank] = synchronised;
    }
    for (std::uint64_t& each : now) {
      each += between_calls_ns;
    }
    if (!model.has_reductions) {
      continue;
    }
    const std::uint64_t all_came = *std::max_element(now.begin(), now.end());
    for (std::size_t rank = 0; rank < count; ++rank) {
      reduce(result.ranks[rank], now[rank], all_came + model.reduction_ns,
             static_cast<std::uint32_t>(step + 1));
      now[rank] = all_came + model.reduction_ns;
    }
  }
  result.total_ns = *std::max_element(now.begin(), now.end());
  for (std::size_t rank = 0; rank < count; ++rank) {
    result.ranks[rank].runs(0, now[rank]);
  }
  return result;
}

}  // namespace penstock::analysis::testing
