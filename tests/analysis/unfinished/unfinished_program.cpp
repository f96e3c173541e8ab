// Programs that do not end, each with a fault that jobs die or hang of, behind some rounds of proper
// messages:
//   unfinished_program WAY host|device [SIGNAL]
// device: the buffers are a GPU's. SIGNAL: a file; what happens behind the others' backs happens once it
// exists.
#include <cuda_runtime.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int large = 1 << 16;  // doubles

struct Job {
  int rank = 0;
  int size = 1;
  double* out = nullptr;
  double* in = nullptr;
  const char* signal = nullptr;
};

double* allocate(bool on_device) {
  void* memory = nullptr;
  if (!on_device) {
    memory = std::calloc(large, sizeof(double));
  } else if (cudaMalloc(&memory, large * sizeof(double)) != cudaSuccess) {
    std::_Exit(1);
  }
  return static_cast<double*>(memory);
}

/// Each rank sends to the next, properly.
void exchange_in_a_ring(Job& job) {
  const int next = (job.rank + 1) % job.size;
  const int previous = (job.rank + job.size - 1) % job.size;
  for (int round = 0; round < 5; ++round) {
    MPI_Request requests[2];
    MPI_Irecv(job.in, 100, MPI_DOUBLE, previous, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(job.out, 100, MPI_DOUBLE, next, round, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void compute_for_ever() {
  volatile bool goes_on = true;  // a loop that does nothing may be left out
  while (goes_on) {
  }
}

void wait_for_signal(const Job& job) {
  while (job.signal != nullptr && access(job.signal, F_OK) != 0) usleep(1000);
}

void receive_before_sending(Job& job) {
  const int partner = job.rank ^ 1;
  if (partner >= job.size) return;
  MPI_Recv(job.in, 100, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(job.out, 100, MPI_DOUBLE, partner, 7, MPI_COMM_WORLD);
}

/// Rank 0 gets a message of which nobody knows; what it waits for in the end is the last rank's.
void wait_for_a_rank_that_was_killed(Job& job) {
  MPI_Request requests[3];
  const int last = job.size - 1;
  if (job.rank == last) {
    MPI_Send(job.out, 100, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    wait_for_signal(job);
    std::raise(SIGKILL);
  } else if (job.rank == 0) {
    MPI_Irecv(job.in, 100, MPI_DOUBLE, last, 99, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(job.in + 100, 100, MPI_DOUBLE, last, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(job.in + 200, 100, MPI_DOUBLE, last, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Recv(job.in, 100, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/// Not MPI_Send: Penstock buffers what a GPU sends to a receiver that is late.
void send_synchronously_first(Job& job) {
  const int next = (job.rank + 1) % job.size;
  const int previous = (job.rank + job.size - 1) % job.size;
  MPI_Ssend(job.out, large, MPI_DOUBLE, next, 4, MPI_COMM_WORLD);
  MPI_Recv(job.in, large, MPI_DOUBLE, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void come_to_different_collectives(Job& job) {
  if (job.rank == 1) {
    MPI_Bcast(job.out, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  } else {
    MPI_Allreduce(job.out, job.in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void keep_others_in_a_barrier(Job& job) {
  if (job.rank == job.size - 1) compute_for_ever();
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The last rank computes, though the first waits for its message; both have initialised what they exchange.
void keep_a_persistent_receive_waiting(Job& job) {
  const int last = job.size - 1;
  MPI_Request request = MPI_REQUEST_NULL;
  if (job.rank == 0) MPI_Recv_init(job.in, 100, MPI_DOUBLE, last, 5, MPI_COMM_WORLD, &request);
  if (job.rank == last) MPI_Send_init(job.out, 100, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, &request);
  for (int round = 0; round < 3; ++round) {
    if (job.rank == last && round == 2) compute_for_ever();
    if (request != MPI_REQUEST_NULL) MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

void abort_on_one_rank(Job& job) {
  if (job.rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
  MPI_Barrier(MPI_COMM_WORLD);
}

void leave_without_a_word(Job& job) {
  if (job.rank == 1) std::exit(0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Goes on for ever, without standing still; slowly, lest its recording outgrow those who read it.
void never_stop(Job& job) {
  for (;;) {
    exchange_in_a_ring(job);
    usleep(1000);
  }
}

struct Way {
  std::string_view name;
  void (*go)(Job& job);
};
constexpr Way ways[] = {
    {"two_receives", receive_before_sending},
    {"killed", wait_for_a_rank_that_was_killed},
    {"synchronous_sends", send_synchronously_first},
    {"collectives", come_to_different_collectives},
    {"endless_loop", keep_others_in_a_barrier},
    {"persistent", keep_a_persistent_receive_waiting},
    {"abort", abort_on_one_rank},
    {"exit", leave_without_a_word},
    {"never_stops", never_stop},
};

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  const bool on_device = count > 2 && std::string_view(arguments[2]) == "device";
  Job job;
  job.out = allocate(on_device);
  job.in = allocate(on_device);
  if (count > 3) job.signal = arguments[3];
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  exchange_in_a_ring(job);
  for (const Way& way : ways) {
    if (count > 1 && way.name == arguments[1]) way.go(job);
  }
  MPI_Finalize();
}
