// Tests of messages and collectives of four GMH ranks, in one, two or four processes.
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <numeric>
#include <vector>

#include "tests/examples/gmh/ranks.hpp"
#include "tests/support/watchdog.hpp"

namespace gmh_tests {
namespace {

constexpr int ranks = 4;

class Exchange : public testing::Test {
 protected:
  /// Runs `body` on four ranks, for any number of processes.
  static void on_ranks(const std::function<void(gmh_tasklist_t, int rank)>& body) {
    int processes = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    run_well(ranks / processes, [&](gmh_tasklist_t list) {
      ASSERT_EQ(size_of(list), ranks);
      body(list, rank_of(list));
    });
  }
};

/// An array of numbers in GPU memory.
template <typename Number>
class Numbers {
 public:
  explicit Numbers(std::vector<Number> first) : count_(first.size()) {
    EXPECT_EQ(cudaMalloc(&data_, count_ * sizeof(Number)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data_, first.data(), count_ * sizeof(Number), cudaMemcpyHostToDevice), cudaSuccess);
  }
  explicit Numbers(std::size_t count) : Numbers(std::vector<Number>(count)) {}
  ~Numbers() { cudaFree(data_); }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;

  [[nodiscard]] void* get() const { return data_; }
  [[nodiscard]] std::vector<Number> read() const {
    std::vector<Number> now(count_);
    EXPECT_EQ(cudaMemcpy(now.data(), data_, count_ * sizeof(Number), cudaMemcpyDeviceToHost), cudaSuccess);
    return now;
  }

 private:
  void* data_ = nullptr;
  std::size_t count_;
};

/// Returns summands of very different magnitudes, so that the bits of a sum depend on its order.
double summand(int rank, std::size_t i) {
  constexpr double magnitudes[] = {1e16, 3.14159, -1e16, 2.71828e-3};
  return magnitudes[(static_cast<std::size_t>(rank) + i) % 4] * static_cast<double>(i % 1000 + 1);
}

TEST_F(Exchange, sums_have_the_bits_of_adding_in_the_order_of_ranks) {
  on_ranks([](gmh_tasklist_t list, int rank) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{140'000}}) {
      std::vector<double> own(count);
      std::vector<double> expected(count);
      for (std::size_t i = 0; i < count; ++i) {
        own[i] = summand(rank, i);
        expected[i] = ((summand(0, i) + summand(1, i)) + summand(2, i)) + summand(3, i);
      }
      const Numbers<double> sent(own);
      const Numbers<double> received(count);
      expect_ok(
          gmh_Allreduce(list, sent.get(), received.get(), static_cast<int>(count), GMH_DOUBLE, GMH_SUM));
      EXPECT_TRUE(received.read() == expected) << count;
      const Numbers<double> of_root(count);
      expect_ok(gmh_Reduce(list, sent.get(), of_root.get(), static_cast<int>(count), GMH_DOUBLE, GMH_SUM, 2));
      EXPECT_TRUE(of_root.read() == (rank == 2 ? expected : std::vector<double>(count))) << count;
      expect_ok(gmh_Allreduce(list, sent.get(), sent.get(), static_cast<int>(count), GMH_DOUBLE, GMH_SUM));
      EXPECT_TRUE(sent.read() == expected) << count << " in place";
    }
  });
}

TEST_F(Exchange, reductions_know_every_type_and_operation) {
  on_ranks([](gmh_tasklist_t list, int rank) {
    const auto check = [&]<typename Number>(Number, gmh_datatype_t type) {
      const auto own = static_cast<Number>(10 + (rank + 2) % ranks);
      for (const auto& [op, expected] :
           {std::pair{GMH_SUM, 46}, std::pair{GMH_MIN, 10}, std::pair{GMH_MAX, 13}}) {
        const Numbers<Number> numbers(std::vector<Number>(5, own));
        expect_ok(gmh_Allreduce(list, numbers.get(), numbers.get(), 5, type, op));
        EXPECT_EQ(numbers.read(), std::vector<Number>(5, static_cast<Number>(expected))) << type << ' ' << op;
      }
    };
    check(static_cast<unsigned char>(0), GMH_BYTE);
    check(0, GMH_INT);
    check(std::int64_t{0}, GMH_INT64);
    check(0.0F, GMH_FLOAT);
    check(0.0, GMH_DOUBLE);
  });
}

TEST_F(Exchange, broadcasts_and_gathers_bring_every_roots_numbers) {
  on_ranks([](gmh_tasklist_t list, int rank) {
    for (int root = 0; root < ranks; ++root) {
      for (const int count_of : {1, root == 1 ? 270'000 : 999}) {
        const auto count = static_cast<std::size_t>(count_of);
        const Numbers<int> numbers(std::vector<int>(count, 100 * root + rank));
        expect_ok(gmh_Bcast(list, numbers.get(), static_cast<int>(count), GMH_INT, root));
        EXPECT_EQ(numbers.read(), std::vector<int>(count, 101 * root)) << root;

        const Numbers<int> own(std::vector<int>(count, rank));
        const Numbers<int> gathered(count * ranks);
        expect_ok(gmh_Gather(list, own.get(), gathered.get(), static_cast<int>(count), GMH_INT, root));
        std::vector<int> expected(count * ranks);
        for (std::size_t i = 0; rank == root && i < expected.size(); ++i)
          expected[i] = static_cast<int>(i / count);
        EXPECT_EQ(gathered.read(), expected) << root;
      }
    }
    const Numbers<int> own(std::vector<int>(3, rank));
    const Numbers<int> all(3 * ranks);
    expect_ok(gmh_Allgather(list, own.get(), all.get(), 3, GMH_INT));
    EXPECT_EQ(all.read(), (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}));
  });
}

TEST_F(Exchange, messages_of_a_stream_and_tag_arrive_in_order_behind_its_work) {
  on_ranks([](gmh_tasklist_t list, int rank) {
    constexpr int messages = 20;
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    gmh_stream_t stream = new_stream(list);
    cudaStream_t cuda = nullptr;
    expect_ok(gmh_stream_cuda(stream, &cuda));
    const Numbers<unsigned char> sent(messages * 1000);
    const Numbers<unsigned char> received(messages * 1000);
    EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // the stream does not wait for their first bytes
    std::vector<gmh_event_t> events(2 * messages);
    for (int i = 0; i < messages; ++i) {
      const auto place = static_cast<std::size_t>(i);
      char* const from = static_cast<char*>(sent.get()) + 1000 * i;
      char* const to = static_cast<char*>(received.get()) + 1000 * i;
      expect_ok(gmh_Irecv(list, i % 2 == 0 ? stream : nullptr, to, 1000, GMH_BYTE, previous, i % 2,
                          &events[2 * place]));
      EXPECT_EQ(cudaMemsetAsync(from, 10 * rank + i, 1000, cuda), cudaSuccess);
      expect_ok(gmh_Isend(list, stream, from, 1000, GMH_BYTE, next, i % 2, &events[2 * place + 1]));
    }
    expect_ok(gmh_waitall(2 * messages, events.data()));
    const std::vector<unsigned char> now = received.read();
    for (std::size_t i = 0; i < now.size(); ++i)
      ASSERT_EQ(now[i], 10 * previous + static_cast<int>(i / 1000)) << "message " << i / 1000;
  });
}

TEST_F(Exchange, the_programs_own_messages_on_the_world_do_not_cross_over) {
  on_ranks([](gmh_tasklist_t list, int rank) {
    constexpr int messages = 30;
    const int next = (rank + 1) % ranks;
    const int previous = (rank + ranks - 1) % ranks;
    int process = 0;
    expect_ok(gmh_mpi_rank(list, next, &process));
    const Numbers<int> sent(std::vector<int>(500, rank));
    int own = 0;
    for (int i = 0; i < messages; ++i) {
      const Numbers<int> received(500);
      const int payload = 1000 + rank;
      int other = 0;
      MPI_Request request = MPI_REQUEST_NULL;
      gmh_event_t events[2];
      MPI_Isend(&payload, 1, MPI_INT, process, i, MPI_COMM_WORLD, &request);
      expect_ok(gmh_Irecv(list, nullptr, received.get(), 500, GMH_INT, previous, i % 3, &events[0]));
      expect_ok(gmh_Isend(list, nullptr, sent.get(), 500, GMH_INT, next, i % 3, &events[1]));
      MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_GE(other, 1000);
      own += other;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect_ok(gmh_waitall(2, events));
      EXPECT_EQ(received.read(), std::vector<int>(500, previous));
    }
    // a message may reach any thread of its process
    const Numbers<int> sum(std::vector<int>{own});
    expect_ok(gmh_Allreduce(list, sum.get(), sum.get(), 1, GMH_INT, GMH_SUM));
    EXPECT_EQ(sum.read(), std::vector<int>{messages * (4 * 1000 + 0 + 1 + 2 + 3)});
  });
}

constexpr int stretches = 8;

/// Before and after each stretch of runs.
using Series = std::array<std::ptrdiff_t, stretches + 1>;

/// Counts runs of a list, and what is in use meanwhile.
struct Runs {
  int stretch;    ///< runs
  bool is_first;  ///< of its process's ranks
  bool is_told;   ///< what is in use
  int done = 0;
  Series used_bytes{};  ///< of the heap, where the simulated GPU and MPI keep events and requests, too
  Series files{};       ///< open; those of the first rank's process
};

std::ptrdiff_t used_bytes() {
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<std::ptrdiff_t>(heap.uordblks + heap.hblkhd);
}

std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// The list runs once more after the last look: no rank has ended, and freed what it had, when another looks.
int count_run(void* argument) {
  Runs& runs = *static_cast<Runs*>(argument);
  const int last = stretches * runs.stretch;
  if (runs.done <= last && runs.done % runs.stretch == 0) {
    const auto stretch = static_cast<std::size_t>(runs.done / runs.stretch);
    runs.used_bytes[stretch] = used_bytes();
    if (runs.is_first) runs.files[stretch] = open_files();  // one thread at a time, since to look opens one
    if (runs.is_told)
      std::fprintf(stderr, "after %d runs: %td bytes, %td open files\n", runs.done, runs.used_bytes[stretch],
                   runs.files[stretch]);
  }
  if (runs.is_first && runs.done % 100 == 0) penstock::test_support::progress("run %d of a list", runs.done);
  return runs.done++ > last ? GMH_EXIT : GMH_RERUN;
}

/// Returns by how much a series grew in the stretch in which it grew least. Pools (MPI's, the simulated
/// GPU's) grow in some, as more messages are pending at once than ever before; a leak shows in each.
std::ptrdiff_t least_growth(const Series& series) {
  std::ptrdiff_t least = PTRDIFF_MAX;
  for (std::size_t i = 0; i < stretches; ++i) least = std::min(least, series[i + 1] - series[i]);
  return least;
}

int do_nothing(cudaStream_t, void*) {
  return 0;
}

TEST_F(Exchange, a_list_that_runs_again_and_again_takes_no_more_memory_and_files) {
  int processes = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const char* wanted = std::getenv("GMH_RUNS");  // 1000000 by hand, with the tunables of CMakeLists.txt
  if (wanted == nullptr && processes > 1) GTEST_SKIP() << "takes long where processes are more than cores";
  // pools grow for some 2,000 runs, and more slowly the busier the machine is
  const int counted = wanted == nullptr ? 4000 : std::atoi(wanted);
  on_ranks([counted, wanted](gmh_tasklist_t list, int rank) {
    int vgpu = 0;
    expect_ok(gmh_vgpu(list, rank, &vgpu));
    Runs runs{counted / stretches, vgpu == 0, vgpu == 0 && wanted != nullptr};
    gmh_stream_t work = new_stream(list);
    gmh_stream_t messages = new_stream(list);
    gmh_mem_t sent = new_memory(list, 10'000);
    gmh_mem_t received = new_memory(list, 10'000);
    gmh_event_t worked = nullptr;
    gmh_event_t arrived = nullptr;
    expect_ok(gmh_add_gpu_kernel(list, work, do_nothing, nullptr, 0, nullptr, &worked));
    expect_ok(gmh_add_recv_buffer(list, messages, received, 0, (rank + 1) % ranks, 0, 0, nullptr, &arrived));
    expect_ok(
        gmh_add_send_buffer(list, messages, sent, 0, (rank + ranks - 1) % ranks, 0, 1, &worked, nullptr));
    expect_ok(gmh_add_gpu_kernel(list, work, do_nothing, nullptr, 1, &arrived, nullptr));
    expect_ok(gmh_add_barrier(list, nullptr));
    expect_ok(gmh_add_control_task(list, count_run, &runs));
    expect_ok(gmh_start(list));
    EXPECT_LT(least_growth(runs.used_bytes), 16 * runs.stretch);
    EXPECT_LE(least_growth(runs.files), 0);
  });
}

}  // namespace
}  // namespace gmh_tests
