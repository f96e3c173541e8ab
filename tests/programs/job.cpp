// A small job for the scripts in this folder: neighbours exchange device buffers, and then the job ends in
// one of several ways (`destructor`: MPI_Finalize is called when main is over); or rank 0 ends long before
// the others (`late`, `early`); or they go on exchanging until a rank kills itself, by messages (`midway
// VICTIM KIND`) or by collectives (`collectives VICTIM blocking|nonblocking`).
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "tests/programs/test_messages.hpp"
#include "tests/support/exit_code.hpp"

namespace {

using namespace penstock;
using test_support::MemoryKind;

constexpr int rounds = 20;

/// Everyone gets the right neighbour's bytes, or false.
bool exchange(int round, int size) {
  const std::size_t bytes = round % 2 == 0 ? 5000 : 300000;
  const auto seed = [&](int rank) { return static_cast<std::uint64_t>(round * 100 + rank); };
  const int rank = programs::rank();
  const int next = (rank + 1) % size;
  const int previous = (rank + size - 1) % size;
  const programs::Buffer sent(MemoryKind::device, bytes, seed(rank));
  const programs::Buffer received(MemoryKind::device, bytes);
  MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, next, 1, received.data(), received.count(), MPI_BYTE,
               previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return received.read() == programs::payload(bytes, seed(previous));
}

/// Rank 0 sends what its MPI may buffer, and ends. Rank 1 takes its time.
bool receive_late(int rank) {
  constexpr std::size_t bytes = 50000;
  const programs::Buffer buffer(MemoryKind::device, bytes, rank == 0 ? 7 : 0);
  if (rank == 0) MPI_Send(buffer.data(), buffer.count(), MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  if (rank != 1) return true;
  std::this_thread::sleep_for(std::chrono::seconds(7));
  MPI_Recv(buffer.data(), buffer.count(), MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return buffer.read() == programs::payload(bytes, 7);
}

/// The last rank is the first and only one that has device memory, when rank 0 has ended.
bool use_gpu_late(int rank, int size) {
  if (rank != size - 1) return true;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const programs::Buffer sent(MemoryKind::device, 5000, 8);
  const programs::Buffer received(MemoryKind::device, 5000);
  MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, 0, 1, received.data(), received.count(), MPI_BYTE, 0, 1,
               MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return received.read() == programs::payload(5000, 8);
}

/// What lies in both buffers after the first rounds is the same; then one rank kills itself in the middle of
/// the next ones.
template <typename Exchange>
[[noreturn]] void exchange_until_killed(int rank, int victim, const programs::Buffer& sent,
                                        const programs::Buffer& received, Exchange exchange) {
  constexpr int first_rounds = 3;
  std::thread end;
  for (int round = 1;; ++round) {
    exchange();
    if (round < first_rounds) MPI_Barrier(MPI_COMM_WORLD);
    if (round != first_rounds) continue;
    std::printf("rank %d: %s\n", rank,
                received.read() == sent.read() ? "all messages arrived" : "WRONG BYTES");
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != victim) continue;
    end = std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ::raise(SIGKILL);
    });
  }
}

constexpr std::size_t large_bytes = 3 << 20;

/// Neighbours exchange large payloads.
[[noreturn]] void send_until_killed(int rank, int size, int victim, MemoryKind source) {
  const programs::Buffer sent(source, large_bytes, 1);
  const programs::Buffer received(MemoryKind::device, large_bytes);
  exchange_until_killed(rank, victim, sent, received, [&] {
    MPI_Sendrecv(sent.data(), sent.count(), MPI_BYTE, (rank + 1) % size, 1, received.data(), received.count(),
                 MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

/// The bitwise or of vectors that are the same is what each of them is.
[[noreturn]] void reduce_until_killed(int rank, int victim, bool is_nonblocking) {
  const programs::Buffer sent(MemoryKind::device, large_bytes, 1);
  const programs::Buffer received(MemoryKind::device, large_bytes);
  exchange_until_killed(rank, victim, sent, received, [&] {
    if (!is_nonblocking) {
      MPI_Allreduce(sent.data(), received.data(), sent.count(), MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(sent.data(), received.data(), sent.count(), MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  });
}

/// As C++ wrappers of MPI have one.
struct Environment {
  ~Environment() {
    if (finalizes) MPI_Finalize();
  }
  bool finalizes = false;
};
Environment environment;

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string end = argument_count > 1 ? arguments[1] : "finalize";
  MPI_Init(&argument_count, &arguments);
  if (test_support::gpu_count() == 0) {
    std::puts("SKIPPED: no GPU");
    MPI_Finalize();
    return test_support::skipped;
  }
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rank = programs::rank();
  test_support::watch(rank, 60);
  bool right = true;
  if (end == "midway" && argument_count > 3) {
    const bool is_pinned = std::string(arguments[3]) == "pinned";
    send_until_killed(rank, size, std::stoi(arguments[2]),
                      is_pinned ? MemoryKind::pinned : MemoryKind::device);
  } else if (end == "collectives" && argument_count > 3) {
    reduce_until_killed(rank, std::stoi(arguments[2]), std::string(arguments[3]) == "nonblocking");
  } else if (end == "late") {
    right = receive_late(rank);
  } else if (end == "early") {
    right = use_gpu_late(rank, size);
  } else {
    for (int round = 0; round < rounds; ++round) right = exchange(round, size) && right;
  }
  std::printf("rank %d: %s\n", rank, right ? "all messages arrived" : "WRONG BYTES");
  std::fflush(stdout);
  if (end != "late" && end != "early") MPI_Barrier(MPI_COMM_WORLD);
  if (end == "kill" && rank == size - 1) ::raise(SIGKILL);
  if (end == "kill") exchange(rounds, size);  // with the dead
  if (end == "exit") ::_exit(right ? 0 : 1);  // never comes to MPI_Finalize, runs no destructor
  environment.finalizes = end == "destructor";
  if (!environment.finalizes) MPI_Finalize();
  return right ? 0 : 1;
}
