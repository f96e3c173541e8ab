// What the programs in this folder share: ranks, payloads that can be told apart, and device buffers with
// guards.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::programs {

using test_support::Memory;
using test_support::MemoryKind;
using Bytes = std::vector<std::byte>;

/// By mpi_test_main.
extern int thread_level_asked_for;

inline int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

inline int own_device() {
  const int gpus = test_support::gpu_count();
  return gpus > 0 ? rank() % gpus : 0;
}

inline Bytes payload(std::size_t bytes, std::uint64_t seed) {
  Bytes content(bytes);
  test_support::Random(seed).fill(content.data(), bytes);
  return content;
}

/// Memory of a kind on the rank's device, with guard bytes behind the part that calls may touch.
class Buffer {
 public:
  Buffer(MemoryKind kind, std::size_t bytes, std::uint64_t seed = 0)
      : memory_(kind, bytes + guard_bytes, own_device()), bytes_(bytes) {
    write(payload(bytes, seed));
    const Bytes guard(guard_bytes, std::byte{0x5a});
    memory_.write(bytes, guard.data(), guard.size());
  }

  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  [[nodiscard]] int count() const { return static_cast<int>(bytes_); }
  void write(const Bytes& content) { memory_.write(0, content.data(), content.size()); }
  [[nodiscard]] Bytes read(std::size_t bytes) const {
    Bytes content(bytes);
    memory_.read(0, content.data(), bytes);
    return content;
  }
  [[nodiscard]] Bytes read() const { return read(bytes_); }
  [[nodiscard]] bool guard_is_intact() const {
    Bytes guard(guard_bytes);
    memory_.read(bytes_, guard.data(), guard.size());
    return guard == Bytes(guard_bytes, std::byte{0x5a});
  }

 private:
  static constexpr std::size_t guard_bytes = 256;
  Memory memory_;
  std::size_t bytes_;
};

/// A large payload in rows with gaps between them, from rank 0 to rank 1: the gaps stay as they were.
inline void expect_pieces_to_arrive(MemoryKind source, MemoryKind destination) {
  constexpr int rows = 3000;
  constexpr int row_bytes = 1000;
  constexpr int stride = 1536;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, row_bytes, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  const Bytes sent = payload(rows * stride, 1);
  Bytes expected = payload(rows * stride, 2);
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(expected.data() + row * stride, sent.data() + row * stride, row_bytes);
  }
  const Buffer buffer(rank() == 0 ? source : destination, rows * stride, rank() == 0 ? 1 : 2);
  if (rank() == 0) {
    MPI_Send(buffer.data(), 1, type, 1, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(buffer.data(), 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_TRUE(buffer.read() == expected);
  }
  MPI_Type_free(&type);
}

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// Errors are returned while one lives; on the world.
class ErrorsReturned {
 public:
  ErrorsReturned() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }
  ~ErrorsReturned() { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL); }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;
};

}  // namespace penstock::programs
