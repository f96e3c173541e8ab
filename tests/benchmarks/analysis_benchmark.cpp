// How fast a recording is read and analysed. One core; the figure to look at is items (records) per second.
// The recordings lie in the page cache, as those of a run that has just ended do.
#include <benchmark/benchmark.h>

#include <cstdint>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/trace_reader.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace {

using penstock::analysis::testing::RecordingBuilder;
using penstock::analysis::testing::TemporaryDirectory;
using namespace penstock;

/// Per step: two kernels, a posted receive and send, a Waitall that completes them, an Allreduce.
constexpr std::uint64_t records_per_step = 8;

/// A two-rank halo exchange, as an application with many small steps records it.
RecordingBuilder halo_exchange(std::int32_t rank, std::uint64_t steps) {
  RecordingBuilder builder(rank, 2);
  const std::int32_t peer = 1 - rank;
  const std::uint64_t late_ns = rank == 0 ? 0 : 300;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t begin = step * 10'000 + late_ns;
    builder.kernel(begin, begin + 3000)
        .kernel(begin + 3000, begin + 6000)
        .call(
            {.function = "MPI_Irecv", .begin = begin + 10, .end = begin + 20, .call_site = 0x10, .waits = 0})
        .call({.function = "MPI_Isend",
               .begin = begin + 20,
               .end = begin + 40,
               .bytes = 4096,
               .call_site = 0x20,
               .waits = 0})
        .half({.direction = trace::Direction::receive,
               .peer = peer,
               .post = begin + 10,
               .complete = begin + 6900,
               .key = 0,
               .blocking = false})
        .half({.direction = trace::Direction::send,
               .peer = peer,
               .post = begin + 20,
               .complete = begin + 6950,
               .key = 0,
               .blocking = false})
        .call({.function = "MPI_Waitall", .begin = begin + 5000, .end = begin + 7000, .call_site = 0x30})
        .call({.function = "MPI_Allreduce",
               .begin = begin + 7000,
               .end = step * 10'000 + 8000,
               .bytes = 8,
               .call_site = 0x40,
               .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
  }
  return builder.runs(0, steps * 10'000);
}

/// Takes every record and keeps nothing.
struct Counter {
  std::uint64_t records = 0;
  template <typename Record>
  void operator()(const Record& record, const trace::BlockHeader&) {
    benchmark::DoNotOptimize(&record);
    ++records;
  }
};

void read_records(benchmark::State& state) {
  const TemporaryDirectory directory;
  const auto file = halo_exchange(0, static_cast<std::uint64_t>(state.range(0))).write(directory.path());
  analysis::TraceReader reader(file);
  Counter counter;
  for (auto _ : state) {
    benchmark::DoNotOptimize(reader.for_each(counter));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(counter.records));
}
BENCHMARK(read_records)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void load_rank(benchmark::State& state) {
  const TemporaryDirectory directory;
  const auto file = halo_exchange(0, static_cast<std::uint64_t>(state.range(0))).write(directory.path());
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::load_rank(file));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * static_cast<std::int64_t>(records_per_step));
}
BENCHMARK(load_rank)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

/// The whole of `penstock report` on two ranks, but for the printing.
void analyse_job(benchmark::State& state) {
  const TemporaryDirectory directory;
  for (const std::int32_t rank : {0, 1}) {
    halo_exchange(rank, static_cast<std::uint64_t>(state.range(0))).write(directory.path());
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(analysis::analyse(directory.path()));
  }
  state.SetItemsProcessed(state.iterations() * 2 * state.range(0) *
                          static_cast<std::int64_t>(records_per_step));
}
BENCHMARK(analyse_job)->Arg(1'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
