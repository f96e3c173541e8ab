// What a program in Python needs of MPI's header, and two functions that call MPI twice without Python in
// between.
#include <mpi.h>

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <cstring>

namespace {
std::atomic<bool> is_asked_to_stop{false};
std::atomic<bool> has_stopped{false};
std::atomic<std::uint64_t> calls{0};
}  // namespace

extern "C" {

/// Not zero once relay() has been entered.
int is_relaying = 0;

/// Returns MPI_COMM_WORLD as an argument.
std::uintptr_t world() {
  const MPI_Comm communicator = MPI_COMM_WORLD;
  std::uintptr_t argument = 0;
  std::memcpy(&argument, &communicator, sizeof communicator);
  return argument;
}

int rank_in_world() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void send_to(int to, int tag) {
  MPI_Send(nullptr, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}
void receive_from(int from, int tag) {
  MPI_Recv(nullptr, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void relay(int peer, int received, int sent) {
  __atomic_store_n(&is_relaying, 1, __ATOMIC_RELEASE);
  receive_from(peer, received);
  send_to(peer, sent);
}
void ask(int peer, int sent, int received) {
  send_to(peer, sent);
  receive_from(peer, received);
}

/// Calls MPI until finalize_behind_python() asks it to stop.
void call_until_stopped() {
  while (!is_asked_to_stop.load()) {
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    calls.fetch_add(1);
    sched_yield();
  }
  has_stopped.store(true);
}
int is_calling() {
  return calls.load() > 0 ? 1 : 0;
}
/// Is called when the interpreter has ended, and has freed what it knew of the other thread.
void finalize_behind_python() {
  const std::uint64_t before = calls.load();
  while (calls.load() < before + 100) sched_yield();
  is_asked_to_stop.store(true);
  while (!has_stopped.load()) sched_yield();
  MPI_Finalize();
}
}
