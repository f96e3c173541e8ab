// What a call costs that has nothing to do with GPUs: host messages of a rank to itself, so that no other
// process disturbs the figure. Alone it says little; host_message_cost.sh runs it with and without the
// preload library and takes the difference. With PENSTOCK_BENCHMARK_CUDA=1 the process uses CUDA too, as a
// GPU program does.
#include <benchmark/benchmark.h>
#include <cuda_runtime.h>
#include <mpi.h>
#include <sys/mman.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

/// Zeroed memory that is mapped by itself.
class MappedArray {
 public:
  static constexpr std::size_t count = 1 << 16;

  MappedArray() {
    if (memory_ == MAP_FAILED) std::abort();
    std::memset(memory_, 0, bytes);
  }
  ~MappedArray() { munmap(memory_, bytes); }
  MappedArray(const MappedArray&) = delete;
  MappedArray& operator=(const MappedArray&) = delete;

  [[nodiscard]] std::uint64_t* data() const { return static_cast<std::uint64_t*>(memory_); }

 private:
  static constexpr std::size_t bytes = count * sizeof(std::uint64_t);
  void* memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

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

/// Large arrays, as numpy's and other languages' are: malloc maps each by itself, so that they lie neither on
/// a stack nor in the heap that grows by brk.
void three_calls_with_large_arrays(benchmark::State& state) {
  const MappedArray sent;
  const MappedArray received;
  std::size_t next = 0;
  for (auto _ : state) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(received.data() + next, sizeof(std::uint64_t), MPI_BYTE, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(sent.data() + next, sizeof(std::uint64_t), MPI_BYTE, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    next = (next + 514) % MappedArray::count;
  }
}
BENCHMARK(three_calls_with_large_arrays);

void one_call_that_carries_no_data(benchmark::State& state) {
  int flag = 0;
  for (auto _ : state) {
    MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    benchmark::DoNotOptimize(flag);
  }
}
BENCHMARK(one_call_that_carries_no_data);

/// Receives for which nothing has come, as long as one lives.
class PostedReceives {
 public:
  explicit PostedReceives(std::int64_t count)
      : memory_(static_cast<std::size_t>(count)), requests_(memory_.size(), MPI_REQUEST_NULL) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      MPI_Irecv(&memory_[i], sizeof memory_[i], MPI_BYTE, 0, 1, MPI_COMM_SELF, &requests_[i]);
    }
  }
  ~PostedReceives() {
    for (MPI_Request& request : requests_) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  PostedReceives(const PostedReceives&) = delete;
  PostedReceives& operator=(const PostedReceives&) = delete;

  [[nodiscard]] MPI_Request* requests() noexcept { return requests_.data(); }
  [[nodiscard]] int count() const noexcept { return static_cast<int>(requests_.size()); }

 private:
  std::vector<std::uint64_t> memory_;
  std::vector<MPI_Request> requests_;
};

/// Of a program that polls one request after the other: its cost must not depend on how many are posted.
void one_failed_test_beside_so_many_receives(benchmark::State& state) {
  PostedReceives receives(state.range(0));
  int flag = 0;
  for (auto _ : state) {
    MPI_Test(receives.requests(), &flag, MPI_STATUS_IGNORE);
    benchmark::DoNotOptimize(flag);
  }
}
BENCHMARK(one_failed_test_beside_so_many_receives)->Arg(1)->Arg(100)->Arg(10'000);

void one_failed_testall_of_so_many_receives(benchmark::State& state) {
  PostedReceives receives(state.range(0));
  int flag = 0;
  for (auto _ : state) {
    MPI_Testall(receives.count(), receives.requests(), &flag, MPI_STATUSES_IGNORE);
    benchmark::DoNotOptimize(flag);
  }
}
BENCHMARK(one_failed_testall_of_so_many_receives)->Arg(1)->Arg(100)->Arg(10'000);

/// Whatever the library, this looks at each.
void one_failed_testany_of_so_many_receives(benchmark::State& state) {
  PostedReceives receives(state.range(0));
  int flag = 0;
  int index = 0;
  for (auto _ : state) {
    MPI_Testany(receives.count(), receives.requests(), &index, &flag, MPI_STATUS_IGNORE);
    benchmark::DoNotOptimize(flag);
  }
}
BENCHMARK(one_failed_testany_of_so_many_receives)->Arg(1)->Arg(100)->Arg(10'000);

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
