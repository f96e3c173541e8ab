// A receive into host memory is posted on the communicator of a session that began before MPI_Init. What then
// comes from a device arrives in it whole.
#include <mpi.h>

#include <cstdio>
#include <vector>

#include "tests/support/job_exit_code.hpp"
#include "tests/support/memory.hpp"

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;

int main(int argument_count, char** arguments) {
#if MPI_VERSION < 4
  static_cast<void>(argument_count);
  static_cast<void>(arguments);
  std::puts("SKIPPED: this MPI has no sessions");
  return penstock::test_support::skipped;
#else
  constexpr int count = 75'000;
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &all);
  int rank = 0;
  MPI_Comm_rank(all, &rank);
  std::vector<int> received(count, -1);
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Irecv(received.data(), count, MPI_INT, 1, 0, all, &request);

  MPI_Init(&argument_count, &arguments);
  int wrong = 0;
  {
    std::vector<int> numbers(count);
    for (int i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = i + 7;
    Memory memory(MemoryKind::device, count * sizeof(int));
    memory.write(0, numbers.data(), count * sizeof(int));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
      MPI_Send(memory.data(), count, MPI_INT, 0, 0, all);
    } else {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (std::size_t i = 0; i < count; ++i) wrong += received[i] != numbers[i] ? 1 : 0;
    }
  }
  if (wrong > 0) std::printf("FAILED: %d of %d numbers are wrong\n", wrong, count);
  const int code = penstock::test_support::job_exit_code(wrong > 0 ? 1 : 0);
  MPI_Comm_free(&all);
  MPI_Group_free(&group);
  MPI_Finalize();
  MPI_Session_finalize(&session);
  return code;
#endif
}
