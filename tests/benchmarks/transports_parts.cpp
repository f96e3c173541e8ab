// What the transports are made of, and what calls without a transport use: blocking copies, copies by the
// CPU, many pieces by one launch of a kernel, and the question that every MPI call asks.
#include <benchmark/benchmark.h>
#include <sys/mman.h>

#include <vector>

#include "tests/benchmarks/transports_pair.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/host/host_copy.hpp"
#include "transports/small/batched_copy.hpp"

namespace {

using namespace penstock::benchmarks;
using namespace penstock::transports;

constexpr std::size_t largest_host_bytes = std::size_t{256} << 20;

/// Between device and pageable memory, as collectives and files use them; raw is the copy with pinned memory,
/// PCIe's speed.
void blocking(benchmark::State& state, bool to_host) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  HostMemory memory(bytes, false);
  HostMemory pinned(bytes, true);
  const BufferView place = receiver_memory().place(bytes);
  const auto host = reinterpret_cast<CUdeviceptr>(pinned.data());
  const CUdeviceptr device = receiver_memory().address();
  const RawCopies raw;
  measure_beside_raw(
      state, bytes, [&] { require(to_host ? download(memory.data(), place) : upload(place, memory.data())); },
      [&] { raw.run(to_host ? host : device, to_host ? device : host, bytes); });
}
BENCHMARK_CAPTURE(blocking, download, true)
    ->RangeMultiplier(8)
    ->Range(64 << 10, largest_host_bytes)
    ->UseManualTime();
BENCHMARK_CAPTURE(blocking, upload, false)
    ->RangeMultiplier(8)
    ->Range(64 << 10, largest_host_bytes)
    ->UseManualTime();

/// 64 MiB to pinned memory in chunks, each with an event behind it, on one stream or on two by turns: what
/// chunks cost by themselves. Raw is one copy.
void chunked(benchmark::State& state) {
  constexpr std::size_t bytes = 64 << 20;
  const auto chunk = static_cast<std::size_t>(state.range(0));
  const auto streams = static_cast<std::size_t>(state.range(1));
  HostMemory pinned(bytes, true);
  const auto host = reinterpret_cast<CUdeviceptr>(pinned.data());
  const CUdeviceptr device = receiver_memory().address();
  const RawCopies raw;
  std::vector<CUstream> stream(streams);
  for (CUstream& each : stream) REQUIRE_CUDA(cuStreamCreate(&each, CU_STREAM_NON_BLOCKING));
  std::vector<CUevent> event(bytes / chunk);
  for (CUevent& each : event) REQUIRE_CUDA(cuEventCreate(&each, CU_EVENT_DISABLE_TIMING));
  const auto copy_chunks = [&] {
    for (std::size_t n = 0; n < event.size(); ++n) {
      REQUIRE_CUDA(cuMemcpyAsync(host + n * chunk, device + n * chunk, chunk, stream[n % streams]));
      REQUIRE_CUDA(cuEventRecord(event[n], stream[n % streams]));
    }
    for (CUevent each : event) {
      while (cuEventQuery(each) == CUDA_ERROR_NOT_READY) {
      }
    }
  };
  measure_beside_raw(state, bytes, copy_chunks, [&] { raw.run(host, device, bytes); });
  for (CUevent each : event) cuEventDestroy(each);
  for (CUstream each : stream) cuStreamDestroy(each);
}
BENCHMARK(chunked)->ArgsProduct({{512 << 10, 1 << 20, 2 << 20, 4 << 20}, {1, 2}})->UseManualTime();

/// What the CPU copies by itself, with the help of the cores it may use.
void host_copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<char> from(bytes, '\1');
  std::vector<char> to(bytes, '\2');
  for (auto iteration : state) copy_host(to.data(), from.data(), bytes);
  const double gigabytes = 1e-9 * static_cast<double>(bytes) * static_cast<double>(state.iterations());
  state.counters["gigabytes_per_s"] = benchmark::Counter(gigabytes, benchmark::Counter::kIsRate);
}
BENCHMARK(host_copy)->RangeMultiplier(4)->Range(256 << 10, largest_host_bytes)->UseRealTime();

/// Pieces from the peer by one launch, as many as it takes; raw is a loop of copies.
void batched(benchmark::State& state) {
  constexpr std::size_t count = CopyKernels::most_items;
  const auto each = static_cast<std::size_t>(state.range(0));
  const MappedSender sender;
  const CUdeviceptr target = receiver_memory().address();
  std::vector<CopyItem> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({reinterpret_cast<void*>(target + i * each),
                     reinterpret_cast<const void*>(sender.address() + i * each),
                     static_cast<std::uint32_t>(each)});
  const cuda::ContextRef context = cuda::Context::of(receiver_memory().place(each).buffer);
  const cuda::ContextScope scope(*context);
  CUstream stream = nullptr;
  require(context->stream(cuda::StreamUse::pull_0, stream));
  require(cuda::Kernels::ready_in(*context));
  BatchedCopy batch;
  const RawCopies raw;
  measure_beside_raw(
      state, count * each,
      [&] {
        require(batch.launch(context, stream, items));
        require(batch.wait());
      },
      [&] { raw.run(target, sender.address(), each, count); });
}
BENCHMARK(batched)->RangeMultiplier(8)->Range(512, 256 << 10)->UseManualTime();

enum class Where { stack, heap, mapped_host, device };

void is_on_device_of(benchmark::State& state, Where where) {
  const int local = 0;
  const std::vector<char> heap(1000);
  void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const void* pointers[] = {&local, heap.data(), mapped,
                            reinterpret_cast<const void*>(receiver_memory().address())};
  const void* pointer = pointers[static_cast<int>(where)];
  for (auto iteration : state) benchmark::DoNotOptimize(is_on_device(pointer));
  munmap(mapped, 4096);
}
BENCHMARK_CAPTURE(is_on_device_of, stack, Where::stack);
BENCHMARK_CAPTURE(is_on_device_of, heap, Where::heap);
BENCHMARK_CAPTURE(is_on_device_of, mapped_host, Where::mapped_host);
BENCHMARK_CAPTURE(is_on_device_of, device, Where::device);

}  // namespace
