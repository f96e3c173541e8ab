// What libraries do at the very end: callbacks of MPI_COMM_SELF's attributes, which MPI_Finalize calls while
// everything works, communicate with device memory. The argument `pending`: with receives and sends of freed
// requests under way; `late`: only one rank has used its GPU before; `failing`: the last callback fails;
// `threads`.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

#include "tests/support/exit_code.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;
using Ints = std::vector<int>;

int rank = 0;
int size = 1;
int wrong = 0;
int callbacks = 0;
MPI_Comm communicator = MPI_COMM_NULL;
constexpr int most = 100'000;

void expect(bool is_right, const char* what) {
  if (is_right) return;
  ++wrong;
  std::fprintf(stderr, "rank %d: WRONG: %s\n", rank, what);
}

Memory& sent() {
  static Memory& memory =
      *new Memory(MemoryKind::device, most * sizeof(int), rank % penstock::test_support::gpu_count());
  return memory;
}
Memory& received() {
  static Memory& memory =
      *new Memory(MemoryKind::device, most * sizeof(int), rank % penstock::test_support::gpu_count());
  return memory;
}

void fill(int count, int first) {
  Ints ints(static_cast<std::size_t>(count));
  std::iota(ints.begin(), ints.end(), first);
  sent().write(0, ints.data(), ints.size() * sizeof(int));
  const Ints none(static_cast<std::size_t>(count), -1);
  received().write(0, none.data(), none.size() * sizeof(int));
}
Ints result(int count) {
  Ints ints(static_cast<std::size_t>(count));
  received().read(0, ints.data(), ints.size() * sizeof(int));
  return ints;
}
bool is_sum(const Ints& ints) {
  for (std::size_t i = 0; i < ints.size(); ++i) {
    if (ints[i] != size * (size - 1) / 2 + size * static_cast<int>(i)) return false;
  }
  return true;
}
bool counts_from(const Ints& ints, int first) {
  for (std::size_t i = 0; i < ints.size(); ++i) {
    if (ints[i] != first + static_cast<int>(i)) return false;
  }
  return true;
}

/// Messages in a ring and collectives of all, small and large, blocking and not.
int communicate(MPI_Comm, int, void*, void*) {
  ++callbacks;
  int is_finalized = 1;
  MPI_Finalized(&is_finalized);
  expect(is_finalized == 0, "MPI_Finalized");
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  for (const int count : {10, 1000, most}) {
    fill(count, rank);
    MPI_Sendrecv(sent().data(), count, MPI_INT, next, 0, received().data(), count, MPI_INT, previous, 0,
                 communicator, MPI_STATUS_IGNORE);
    expect(counts_from(result(count), previous), "MPI_Sendrecv");

    fill(count, rank);
    MPI_Request requests[2];
    MPI_Irecv(received().data(), count, MPI_INT, previous, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent().data(), count, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect(counts_from(result(count), previous), "MPI_Isend and MPI_Irecv");

    fill(count, rank);
    MPI_Allreduce(sent().data(), received().data(), count, MPI_INT, MPI_SUM, communicator);
    expect(is_sum(result(count)), "MPI_Allreduce");

    fill(count, rank);
    MPI_Iallreduce(sent().data(), received().data(), count, MPI_INT, MPI_SUM, communicator, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    expect(is_sum(result(count)), "MPI_Iallreduce");
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_dup(communicator, &made);
  fill(1000, rank);
  MPI_Allreduce(sent().data(), received().data(), 1000, MPI_INT, MPI_SUM, made);
  expect(is_sum(result(1000)), "MPI_Allreduce on a communicator that was made there");
  MPI_Comm_free(&made);
  if (callbacks == 2) MPI_Comm_free(&communicator);
  return MPI_SUCCESS;
}

int fail(MPI_Comm, int, void*, void*) {
  return MPI_ERR_OTHER;
}

void set_attribute(MPI_Comm_delete_attr_function* callback) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, callback, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
  MPI_Comm_free_keyval(&key);
}

void leave_pending() {
  static const Memory& pending =
      *new Memory(MemoryKind::device, 10 * sizeof(int), rank % penstock::test_support::gpu_count());
  fill(most, rank);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(pending.data(), 10, MPI_INT, rank, 99, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  MPI_Send(sent().data(), 10, MPI_INT, rank, 99, MPI_COMM_WORLD);
}

/// When MPI is over, memory may still be freed, and MPI asked whether it is.
void check_at_exit() {
  int is_initialised = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialised);
  MPI_Finalized(&is_finalized);
  delete &sent();
  delete &received();
  if (is_initialised == 0 || is_finalized == 0 || callbacks != 2 || wrong != 0) {
    std::fprintf(stderr, "rank %d: WRONG: %d callbacks, %d wrong, finalized %d\n", rank, callbacks, wrong,
                 is_finalized);
    std::_Exit(1);
  }
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view how = argument_count > 1 ? arguments[1] : "";
  int provided = 0;
  if (how == "threads") {
    MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(&argument_count, &arguments);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  penstock::test_support::watch(rank, 60);
  if (penstock::test_support::gpu_count() == 0) {
    std::puts("SKIPPED: no GPU");
    MPI_Finalize();
    return penstock::test_support::skipped;
  }
  std::atexit(check_at_exit);
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  if (how == "failing") set_attribute(fail);
  set_attribute(communicate);
  set_attribute(communicate);
  if (how == "pending") leave_pending();
  if (how == "late" && rank == 0) fill(most, 0);
  MPI_Finalize();
  return 0;
}
