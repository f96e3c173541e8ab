// Messages between two ranks in memory of several kinds and sizes.
//   plain_messages [unreadable]
// unreadable: of processes that others may not read, as of a program file without permission to read it.
// Their memory files cannot be opened, and what is staged must go another way.
#include <mpi.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/support/job_exit_code.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

int main(int argument_count, char** arguments) {
  if (argument_count > 1 && std::strcmp(arguments[1], "unreadable") == 0) prctl(PR_SET_DUMPABLE, 0);
  MPI_Init(&argument_count, &arguments);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int wrong = 0;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::async_pool, MemoryKind::pinned}) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{100'000}, std::size_t{3} << 20}) {
      std::vector<std::byte> content(bytes);
      penstock::test_support::Random random(bytes);
      random.fill(content.data(), bytes);
      Memory memory(kind, bytes);
      if (rank == 0) memory.write(0, content.data(), bytes);
      if (rank == 0) MPI_Send(memory.data(), static_cast<int>(bytes), MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      if (rank == 1) {
        MPI_Recv(memory.data(), static_cast<int>(bytes), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        std::vector<std::byte> found(bytes);
        memory.read(0, found.data(), bytes);
        wrong += found != content ? 1 : 0;
      }
    }
  }
  if (wrong > 0) std::printf("FAILED: %d messages are wrong\n", wrong);
  const int code = penstock::test_support::job_exit_code(wrong > 0 ? 1 : 0);
  MPI_Finalize();
  return code;
}
