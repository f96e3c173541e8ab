// What a call costs that has nothing to do with GPUs: host messages of a rank to itself, so that no other
// process disturbs the figure. Alone it says little; host_message_cost.sh runs it with and without the
// preload library and takes the difference. With PENSTOCK_BENCHMARK_CUDA=1 the process uses CUDA too, as a
// GPU program does.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

void three_calls_for_a_message_to_self(benchmark::State& state) {
  std::uint64_t sent = 1;
  std::uint64_t received = 0;
  for (auto _ : state) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&received, sizeof received, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&sent, sizeof sent, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
BENCHMARK(three_calls_for_a_message_to_self);

/// A sender that never sends from the same address twice in a row.
void three_calls_with_changing_buffers(benchmark::State& state) {
  static std::array<std::uint64_t, 1 << 16> memory{};
  std::size_t next = 0;
  for (auto _ : state) {
    std::uint64_t* sent = &memory[next];
    std::uint64_t* received = &memory[next + 1];
    next = (next + 514) % (memory.size() - 1);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received, sizeof *received, MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(sent, sizeof *sent, MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}
BENCHMARK(three_calls_with_changing_buffers);

void one_call_that_carries_no_data(benchmark::State& state) {
  int flag = 0;
  for (auto _ : state) {
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    benchmark::DoNotOptimize(flag);
  }
}
BENCHMARK(one_call_that_carries_no_data);

}  // namespace

int main(int argc, char** argv) {
  const char* cuda = std::getenv("PENSTOCK_BENCHMARK_CUDA");
  void* device_memory = nullptr;
  if (cuda != nullptr && cuda[0] == '1' && cudaMalloc(&device_memory, 1 << 20) != cudaSuccess) {
    std::fputs("host_message_benchmark: no GPU to use\n", stderr);
    return 1;
  }
  MPI_Init(&argc, &argv);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  MPI_Finalize();
  cudaFree(device_memory);
  return 0;
}
