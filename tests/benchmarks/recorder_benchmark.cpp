// What recording costs the thread that records. Run it by hand: recorder_benchmark [--benchmark_filter=…]
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>

#include "interpose/record/recorder.hpp"

namespace {

using namespace penstock;

std::string folder;

/// Before the first benchmark that records; those before it ran with recording off.
void begin_recording(const benchmark::State&) {
  constexpr std::uint64_t limit_bytes = std::uint64_t{4} << 30;
  record::Identity identity;
  identity.directory = folder;
  identity.limit_bytes = limit_bytes;
  identity.with_gpu_activity = false;
  if (!record::begin(identity)) std::exit(EXIT_FAILURE);
}

void is_on_while_off(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(record::is_on());
}

void now(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(record::now_ns());
}

void write(benchmark::State& state) {
  trace::MpiCall call{};
  call.kind = trace::RecordKind::mpi_call;
  for (auto _ : state) {
    ++call.begin_ns;
    record::write(call);
  }
}

/// What a recorded MPI call adds: two readings of the clock and a record.
void event(benchmark::State& state) {
  for (auto _ : state) {
    trace::MpiCall call{};
    call.begin_ns = record::now_ns();
    call.kind = trace::RecordKind::mpi_call;
    call.end_ns = record::now_ns();
    record::write(call);
  }
}

/// The same as the interposer does it: the record is made where a reader finds it during the call.
void event_that_can_be_seen(benchmark::State& state) {
  for (auto _ : state) {
    trace::OpenCall& open = record::open_call();
    open.operations = 0;
    open.receives = 0;
    open.call = {};
    open.call.begin_ns = record::now_ns();
    std::atomic_ref<trace::RecordKind> kind(open.call.kind);
    kind.store(trace::RecordKind::mpi_call, std::memory_order_release);
    open.call.end_ns = record::now_ns();
    record::write(open.call);
    kind.store(trace::RecordKind::none, std::memory_order_release);
  }
}

void intern_a_known_string(benchmark::State& state) {
  const std::string name(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(record::intern(name));
}

void own_work_without_cupti(benchmark::State& state) {
  for (auto _ : state) {
    record::begin_own_work();
    record::end_own_work();
  }
}

}  // namespace

int main(int count, char** arguments) {
  // As many as the recording holds: what is dropped costs less.
  constexpr benchmark::IterationCount written = 10'000'000;
  folder = (std::filesystem::temp_directory_path() / "penstock-benchmark-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return EXIT_FAILURE;

  benchmark::Initialize(&count, arguments);
  benchmark::RegisterBenchmark("is_on while off", is_on_while_off);
  benchmark::RegisterBenchmark("now_ns", now);
  benchmark::RegisterBenchmark("write", write)->Setup(begin_recording)->Iterations(written);
  benchmark::RegisterBenchmark("event", event)->Setup(begin_recording)->Iterations(written);
  benchmark::RegisterBenchmark("event", event)->Setup(begin_recording)->Iterations(written / 2)->Threads(2);
  benchmark::RegisterBenchmark("event that can be seen", event_that_can_be_seen)
      ->Setup(begin_recording)
      ->Iterations(written / 2);
  benchmark::RegisterBenchmark("intern a known string", intern_a_known_string)
      ->Setup(begin_recording)
      ->Arg(16)
      ->Arg(128);
  benchmark::RegisterBenchmark("own work without CUPTI", own_work_without_cupti)->Setup(begin_recording);
  benchmark::RunSpecifiedBenchmarks();

  record::end();
  std::filesystem::remove_all(folder);
  return EXIT_SUCCESS;
}
