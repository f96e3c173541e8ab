// Work that waits for the first message or collective of a process on device memory: neither waits for the
// work, although kernels are put into a GPU's context only while nothing runs there. Each test is the first
// in its process.
#include <cuda_runtime.h>

#include <array>
#include <cstring>
#include <vector>

#include "tests/programs/test_messages.hpp"
#include "tests/support/busy_gpu.hpp"

namespace penstock::programs {
namespace {

using test_support::BusyGpu;

constexpr int rows = 64;
constexpr int stride = 4;
constexpr int ints = rows * stride;

/// Every fourth int: what a kernel copies.
class Column {
 public:
  Column() {
    MPI_Type_vector(rows, 1, stride, MPI_INT, &type_);
    MPI_Type_commit(&type_);
  }
  ~Column() { MPI_Type_free(&type_); }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  [[nodiscard]] MPI_Datatype type() const { return type_; }

  /// What is in a buffer of `before` when it has come from one of `sent`.
  static Bytes in(const Bytes& sent, Bytes before) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t at = row * stride * sizeof(int);
      std::memcpy(before.data() + at, sent.data() + at, sizeof(int));
    }
    return before;
  }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class NonBlockingStream {
 public:
  NonBlockingStream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
  ~NonBlockingStream() { cudaStreamDestroy(stream_); }
  NonBlockingStream(const NonBlockingStream&) = delete;
  NonBlockingStream& operator=(const NonBlockingStream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

constexpr std::size_t bytes = ints * sizeof(int);

Buffer own_buffer() {
  return Buffer(MemoryKind::device, bytes, static_cast<std::uint64_t>(rank()));
}

TEST(FirstWork, may_wait_for_an_exchange_that_was_posted_before_it) {
  if (rank() > 1) return;
  const int other = 1 - rank();
  const Column column;
  const Buffer sent = own_buffer();
  const Buffer received(MemoryKind::device, bytes, 2);
  std::array<MPI_Request, 2> requests{};
  MPI_Irecv(received.data(), 1, column.type(), other, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(sent.data(), 1, column.type(), other, 0, MPI_COMM_WORLD, &requests[1]);
  {
    BusyGpu work;
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  }
  EXPECT_EQ(received.read(),
            Column::in(payload(bytes, static_cast<std::uint64_t>(other)), payload(bytes, 2)));
}

TEST(FirstWork, may_wait_for_a_receive_if_it_began_behind_a_barrier) {
  const Column column;
  const Buffer buffer = own_buffer();
  const NonBlockingStream stream;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) MPI_Send(buffer.data(), 1, column.type(), 1, 0, MPI_COMM_WORLD);
  if (rank() != 1) return;
  {
    BusyGpu work(stream.get());
    MPI_Recv(buffer.data(), 1, column.type(), 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  EXPECT_EQ(buffer.read(), Column::in(payload(bytes, 0), payload(bytes, 1)));
}

TEST(FirstWork, may_wait_for_a_collective_that_was_begun_before_it) {
  const Buffer buffer(MemoryKind::device, bytes);
  const std::vector<int> own(ints, rank() + 1);
  cudaMemcpy(buffer.data(), own.data(), bytes, cudaMemcpyHostToDevice);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, buffer.data(), ints, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  {
    BusyGpu work;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  std::vector<int> sum(ints);
  cudaMemcpy(sum.data(), buffer.data(), bytes, cudaMemcpyDeviceToHost);
  EXPECT_EQ(sum, std::vector<int>(ints, 1 + 2));
}

}  // namespace
}  // namespace penstock::programs
