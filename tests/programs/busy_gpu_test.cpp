// A non-blocking call and MPI_Test return while the GPU is busy, as its work may end only after them: a
// program may queue what waits for itself. What would wait for that work in place hangs here.
#include <mpi.h>

#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/programs/test_messages.hpp"
#include "tests/support/busy_gpu.hpp"
#include "tests/support/memory.hpp"

namespace penstock::programs {
namespace {

using test_support::BusyGpu;

constexpr double tests_s = 0.05;

/// Tests the request that `post()` returns while the GPU is busy, and completes it thereafter. `changes`: the
/// call writes to device memory, which it may not do before the GPU's earlier work has ended.
void complete_behind_work(const std::function<MPI_Request()>& post, bool changes = true) {
  BusyGpu work;
  MPI_Request request = post();
  int is_over = 0;
  for (const double begin_s = MPI_Wtime(); MPI_Wtime() - begin_s < tests_s && is_over == 0;)
    MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
  if (changes) {
    EXPECT_EQ(is_over, 0);
  }
  work.end();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

MPI_Request receive_into(const Buffer& buffer) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(buffer.data(), buffer.count(), MPI_BYTE, 0, 77, MPI_COMM_WORLD, &request);
  return request;
}
void send_from(const Buffer& buffer) {
  MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 77, MPI_COMM_WORLD);
}

TEST(BusyGpu, a_receive_is_tested) {
  if (rank() > 1) return;
  using Case = std::pair<MemoryKind, std::size_t>;
  for (const auto& [source, bytes] :
       {Case{MemoryKind::pageable, 8}, Case{MemoryKind::pageable, 1000}, Case{MemoryKind::pageable, 100'000},
        Case{MemoryKind::device, 8}, Case{MemoryKind::device, 100'000}, Case{MemoryKind::device, 3 << 20}}) {
    SCOPED_TRACE(std::string(name_of(source)) + ", " + std::to_string(bytes));
    const Buffer buffer(rank() == 0 ? source : MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      send_from(buffer);
    } else {
      complete_behind_work([&] { return receive_into(buffer); });
      EXPECT_EQ(buffer.read(), payload(bytes, 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST(BusyGpu, a_receive_of_a_probed_message_is_posted_and_tested) {
  if (rank() > 1) return;
  for (const std::size_t bytes : {8u, 64u, 100'000u}) {
    SCOPED_TRACE(bytes);
    const Buffer buffer(rank() == 0 ? MemoryKind::pageable : MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      send_from(buffer);
    } else {
      MPI_Probe(0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      complete_behind_work([&] { return receive_into(buffer); });
      EXPECT_EQ(buffer.read(), payload(bytes, 1));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// The receiver still has the earlier memory mapped, and the driver unmaps only while the GPU is idle.
TEST(BusyGpu, a_receive_from_memory_in_the_place_of_freed_memory_is_tested) {
  if (rank() > 1) return;
  constexpr std::size_t bytes = 4 << 20;
  for (int round = 0; round < 4; ++round) {
    const Buffer buffer(MemoryKind::device, bytes, rank() == 0 ? static_cast<std::uint64_t>(round) : 99);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      send_from(buffer);
    } else {
      complete_behind_work([&] { return receive_into(buffer); });
      EXPECT_EQ(buffer.read(), payload(bytes, static_cast<std::uint64_t>(round)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// A communicator on which the ranks agree on non-blocking collectives: their GPUs were in use when it was
/// made, and it has had blocking ones.
class Agreeing {
 public:
  Agreeing() {
    const Buffer buffer(MemoryKind::device, 1000);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    for (int i = 0; i < 3; ++i) MPI_Bcast(buffer.data(), buffer.count(), MPI_BYTE, 0, communicator_);
  }
  ~Agreeing() { MPI_Comm_free(&communicator_); }
  Agreeing(const Agreeing&) = delete;
  Agreeing& operator=(const Agreeing&) = delete;
  [[nodiscard]] MPI_Comm get() const { return communicator_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

/// The integers 1, 2, … times a factor.
Bytes integers(std::size_t count, int factor) {
  std::vector<int> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<int>(i + 1) * factor;
  Bytes bytes(count * sizeof(int));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

TEST(BusyGpu, collectives_are_begun_and_tested) {
  const Agreeing communicator;
  int ranks = 0;
  MPI_Comm_size(communicator.get(), &ranks);
  // by the library in host memory, by messages, and where this rank has its vector there
  for (const std::size_t count : {2u, 5'000u, 300'000u}) {
    for (const MemoryKind own : {MemoryKind::device, MemoryKind::pageable}) {
      SCOPED_TRACE(std::string(name_of(own)) + ", " + std::to_string(count));
      const std::size_t bytes = count * sizeof(int);
      Buffer from(rank() == 0 ? MemoryKind::device : own, bytes);
      from.write(integers(count, 1));
      const Buffer sum(MemoryKind::device, bytes, 7);
      Buffer same(MemoryKind::device, bytes, 8);
      if (rank() == 0) same.write(integers(count, 3));
      MPI_Barrier(MPI_COMM_WORLD);
      complete_behind_work([&] {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(from.data(), sum.data(), static_cast<int>(count), MPI_INT, MPI_SUM, communicator.get(),
                       &request);
        return request;
      });
      EXPECT_EQ(sum.read(), integers(count, ranks));
      complete_behind_work(
          [&] {
            MPI_Request request = MPI_REQUEST_NULL;
            MPI_Ibcast(same.data(), same.count(), MPI_BYTE, 0, communicator.get(), &request);
            return request;
          },
          rank() != 0);
      EXPECT_EQ(same.read(), integers(count, 3));
    }
  }
}

#if PENSTOCK_HAS_MPI_4
void add(void* in, void* in_and_out, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(in_and_out)[i] += static_cast<const int*>(in)[i];
}

/// What was begun while the GPU was idle does not wait behind the copy of another thread, which waits for
/// work that was queued later. Both broadcasts come from host memory, so they are staged.
TEST(BusyGpu, a_staged_collective_from_before_completes_beside_another_threads_copy) {
  int threads = MPI_THREAD_SINGLE;
  MPI_Query_thread(&threads);
  if (threads != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "one thread only";
  MPI_Comm dup = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  for (const std::size_t bytes : {8u, 1000u, 100'000u}) {
    SCOPED_TRACE(bytes);
    const Buffer first(rank() == 0 ? MemoryKind::pageable : MemoryKind::device, bytes, rank() == 0 ? 1 : 2);
    const Buffer second(rank() == 0 ? MemoryKind::pageable : MemoryKind::device, bytes, rank() == 0 ? 3 : 4);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank() == 0) {
      MPI_Bcast(second.data(), second.count(), MPI_BYTE, 0, dup);
      MPI_Recv(nullptr, 0, MPI_BYTE, 1, 79, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Ibcast(first.data(), first.count(), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      MPI_Ibcast(first.data(), first.count(), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
      BusyGpu work;
      std::thread other([&] { MPI_Bcast(second.data(), second.count(), MPI_BYTE, 0, dup); });
      // until the other thread's copy is most likely queued
      for (const double begin_s = MPI_Wtime(); MPI_Wtime() - begin_s < tests_s;) std::this_thread::yield();
      MPI_Send(nullptr, 0, MPI_BYTE, 0, 79, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      work.end();
      other.join();
      EXPECT_EQ(first.read(), payload(bytes, 1));
      EXPECT_EQ(second.read(), payload(bytes, 3));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm_free(&dup);
}

/// An operation of the program's is the library's, in host memory. Only the result lies on the GPU: nothing
/// is read there when the operation starts.
TEST(BusyGpu, a_staged_persistent_collective_does_not_wait_for_later_work) {
  constexpr int count = 5'000;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::vector<int> from(count, 3);
  const Buffer sum(MemoryKind::device, count * sizeof(int), 7);
  MPI_Op operation = MPI_OP_NULL;
  MPI_Op_create(add, 1, &operation);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(from.data(), sum.data(), count, MPI_INT, operation, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request);
  MPI_Start(&request);
  {
    const BusyGpu work;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  const std::vector<int> expected(count, 3 * ranks);
  EXPECT_EQ(std::memcmp(sum.read().data(), expected.data(), count * sizeof(int)), 0);
  MPI_Request_free(&request);
  MPI_Op_free(&operation);
}
#endif

}  // namespace
}  // namespace penstock::programs
