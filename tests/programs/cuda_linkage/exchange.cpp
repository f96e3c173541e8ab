// Two ranks exchange device buffers: with a context made before or after MPI_Init, through whichever CUDA API
// and cudart the program is linked to.
//   exchange before|after
#include <mpi.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "device_memory.hpp"
#include "tests/support/job_exit_code.hpp"

namespace {

using namespace penstock;

constexpr int tag = 3;

std::vector<std::uint8_t> pattern(int rank, std::size_t bytes) {
  std::vector<std::uint8_t> payload(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    payload[i] = static_cast<std::uint8_t>(i * 7 + i / 251 + 13u * static_cast<unsigned>(rank));
  return payload;
}

/// True if the other rank's payload arrives whole.
bool exchange(int rank, std::size_t bytes) {
  void* sent = test_support::allocate(bytes);
  void* received = test_support::allocate(bytes);
  test_support::write(sent, pattern(rank, bytes).data(), bytes);
  test_support::write(received, std::vector<std::uint8_t>(bytes, 0xee).data(), bytes);
  MPI_Status status;
  MPI_Sendrecv(sent, static_cast<int>(bytes), MPI_BYTE, 1 - rank, tag, received, static_cast<int>(bytes),
               MPI_BYTE, 1 - rank, tag, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::vector<std::uint8_t> found(bytes);
  test_support::read(found.data(), received, bytes);
  test_support::release(sent);
  test_support::release(received);
  return count == static_cast<int>(bytes) && found == pattern(1 - rank, bytes);
}

}  // namespace

int main(int argc, char** argv) {
  const bool before = argc > 1 && std::strcmp(argv[1], "before") == 0;
  // before MPI_Init a program knows no rank; the launchers' environment is no part of this test
  bool has_gpu = !before || test_support::make_context(0);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!before) has_gpu = test_support::make_context(rank);
  int code = 0;
  if (!has_gpu) {
    std::puts("SKIPPED: no GPU");
    code = test_support::skipped;
  } else {
    for (const std::size_t bytes : {1u, 64u, 65u, 4096u, 65536u, 1u << 20, 9u << 20}) {
      // twice: the second finds its handles in the cache, or the address taken by another allocation
      for (int round = 0; round < 2; ++round) {
        if (exchange(rank, bytes)) continue;
        std::fprintf(stderr, "rank %d: %zu bytes arrived wrong\n", rank, bytes);
        code = 1;
      }
    }
  }
  code = test_support::job_exit_code(code);
  MPI_Finalize();
  return code;
}
