// What recording costs the thread that records. Run it by hand: recorder_benchmark [--benchmark_filter=…]
#include <alloca.h>
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>

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

/// The records of a message sent and one received, with six neighbours by turns: three calls and two halves,
/// with no clock read.
void two_messages(benchmark::State& state) {
  constexpr std::int32_t neighbours = 6;
  trace::MpiCall call{};
  call.communicator = call.repeats = 1;
  call.kind = trace::RecordKind::mpi_call;
  trace::MessageHalf half{};
  half.bytes = 8;
  half.communicator = 1;
  half.kind = trace::RecordKind::message_half;
  std::uint64_t now_ns = record::now_ns();
  for (auto _ : state) {
    const std::uint64_t begin_ns = now_ns;
    half.peer = half.peer + 1 == neighbours ? 0 : half.peer + 1;
    for (const std::uint32_t function : {1u, 2u, 3u}) {
      call.begin_ns = now_ns;
      call.end_ns = now_ns += 150 + (now_ns >> 5 & 63);
      call.function = function;
      call.call_site = trace::call_path_bit | function;
      call.peer = function == 3 ? -1 : half.peer;
      record::write(call);
    }
    for (const trace::Direction direction : {trace::Direction::send, trace::Direction::receive}) {
      half.direction = direction;
      half.call_site = trace::call_path_bit | (direction == trace::Direction::send ? 2u : 1u);
      half.post_ns = begin_ns;
      half.complete_ns = half.matched_ns = now_ns -= 20;
      record::write(half);
    }
    now_ns += 100;
  }
}

/// A function of MPI, as far as its call site goes. Not inlined, so that its caller is a frame.
[[gnu::noinline]] std::uint64_t mpi_function() {
  std::uint64_t site = record::call_site_of(__builtin_return_address(0));
  benchmark::DoNotOptimize(site);
  return site;
}

[[gnu::noinline]] std::uint64_t call_below(benchmark::State& state, std::int64_t frames) {
  std::uint64_t sum = 0;
  if (frames > 1) {
    sum = call_below(state, frames - 1);
  } else {
    for (auto _ : state) sum += mpi_function();
  }
  benchmark::DoNotOptimize(sum);
  return sum;
}

/// The call lies below so many frames, and those of this program: paths have 12 frames from 6 on.
void call_site_of_a_known_path(benchmark::State& state) {
  call_below(state, state.range(0));
}

[[gnu::noinline]] std::uint64_t wrapper() {
  std::uint64_t site = mpi_function();
  benchmark::DoNotOptimize(site);
  return site;
}

template <int number>
[[gnu::noinline]] std::uint64_t caller() {
  std::uint64_t site = wrapper() + number;
  benchmark::DoNotOptimize(site);
  return site;
}

/// Callers of one wrapper by turns, with frames of one size: only return addresses tell them apart.
template <int... numbers>
void call_sites_by_turns(benchmark::State& state, std::integer_sequence<int, numbers...>) {
  constexpr std::array callers{&caller<numbers>...};
  std::size_t next = 0;
  std::uint64_t sum = 0;
  for (auto _ : state) {
    sum += callers[next]();
    next = next + 1 == callers.size() ? 0 : next + 1;
  }
  benchmark::DoNotOptimize(sum);
}
template <int count>
void call_sites_by_turns_of(benchmark::State& state) {
  call_sites_by_turns(state, std::make_integer_sequence<int, count>());
}

[[gnu::noinline]] std::uint64_t with_array(std::size_t bytes) {
  auto* const array = static_cast<volatile char*>(alloca(bytes + 1));
  array[bytes] = 1;
  return mpi_function() + static_cast<std::uint64_t>(array[bytes]);
}

/// A frame has more sizes than are remembered, so that most calls walk the stack. No usual program has it.
void call_site_of_a_path_that_is_walked(benchmark::State& state) {
  constexpr std::size_t sizes = 4096;
  std::size_t size = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(with_array(size * 16));
    size = (size + 1) % sizes;
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
  benchmark::RegisterBenchmark("two messages", two_messages)->Setup(begin_recording)->Iterations(written / 5);
  benchmark::RegisterBenchmark("call site of a known path", call_site_of_a_known_path)
      ->Setup(begin_recording)
      ->Arg(1)
      ->Arg(6)
      ->Arg(20);
  benchmark::RegisterBenchmark("call sites by turns of 2 callers", call_sites_by_turns_of<2>)
      ->Setup(begin_recording);
  benchmark::RegisterBenchmark("call sites by turns of 8 callers", call_sites_by_turns_of<8>)
      ->Setup(begin_recording);
  benchmark::RegisterBenchmark("call sites by turns of 64 callers", call_sites_by_turns_of<64>)
      ->Setup(begin_recording);
  benchmark::RegisterBenchmark("call site of a path that is walked", call_site_of_a_path_that_is_walked)
      ->Setup(begin_recording);
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
