/* A program in C, as the paper writes them: GMH ranks pass a buffer round a ring, each adds its rank plus one
 * to it in a CPU task, and a control task runs the list again until it has gone round three times. In the
 * conventional form, too. Exits with 0 if every number is right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/gmh/gmh.h"

#define NUMBERS 1000
#define ROUNDS 3

struct rank_state {
  int rank;
  int size;
  int round;
  int* host;
};

static int failures = 0;

static void check(int code, const char* what) {
  if (code == GMH_OK) return;
  fprintf(stderr, "%s: %s\n", what, gmh_error_string(code));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int add_rank(void* argument) {
  struct rank_state* state = argument;
  for (int i = 0; i < NUMBERS; ++i) state->host[i] += state->rank + 1;
  return 0;
}

static int clear(cudaStream_t stream, void* buffer) {
  return cudaMemsetAsync(buffer, 0, NUMBERS * sizeof(int), stream);
}

static int count_rounds(void* argument) {
  struct rank_state* state = argument;
  return ++state->round < ROUNDS ? GMH_RERUN : GMH_EXIT;
}

/* Rank 0 adds and sends, then receives what has been round; the others receive, add and send. */
static void run_flow(gmh_tasklist_t l, struct rank_state* state, gmh_mem_t buffer, void* gpu) {
  gmh_stream_t s;
  gmh_event_t cleared, received, on_host, added, on_gpu, sent;
  const int next = (state->rank + 1) % state->size, previous = (state->rank + state->size - 1) % state->size;
  gmh_tasklist_t once;

  check(gmh_create_tasklist(l, &once), "create a list");
  check(gmh_create_command_stream(once, &s, GMH_NORMAL), "create a stream");
  check(gmh_add_gpu_kernel(once, s, clear, gpu, 0, NULL, &cleared), "add a kernel");
  check(gmh_start(once), "start the list that clears");

  check(gmh_create_command_stream(l, &s, GMH_NORMAL), "create a stream");
  if (state->rank != 0)
    check(gmh_add_recv_buffer(l, s, buffer, 1, previous, 7, 1, &cleared, &received), "add a receive");
  else
    received = NULL;
  check(gmh_add_copy(l, s, buffer, GMH_TO_HOST, 1, &received, &on_host), "add a copy");
  check(gmh_add_cpu_task(l, s, add_rank, state, 1, &on_host, &added), "add a task");
  check(gmh_add_copy(l, s, buffer, GMH_TO_GPU, 1, &added, &on_gpu), "add a copy");
  check(gmh_add_send_buffer(l, s, buffer, 0, next, 7, 1, &on_gpu, &sent), "add a send");
  check(gmh_name(sent, "pass on"), "name a command");
  if (state->rank == 0)
    check(gmh_add_recv_buffer(l, s, buffer, 1, previous, 7, 1, &sent, NULL), "add a receive");
  check(gmh_add_control_task(l, count_rounds, state), "add the control task");
  check(gmh_start(l), "start the list");
}

static void expect(const struct rank_state* state, const int* numbers, int expected, const char* what) {
  for (int i = 0; i < NUMBERS; ++i) {
    if (numbers[i] == expected) continue;
    fprintf(stderr, "rank %d: %s: number %d is %d and not %d\n", state->rank, what, i, numbers[i], expected);
    __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
    return;
  }
}

static void* of_each_rank(gmh_tasklist_t l, void* argument) {
  struct rank_state state = {0, 0, 0, NULL};
  gmh_mem_t buffer;
  void *gpu, *host;
  gmh_event_t events[2];
  int numbers[NUMBERS], got[NUMBERS], all, up_to;

  (void)argument;
  check(gmh_rank(l, &state.rank), "ask for the rank");
  check(gmh_size(l, &state.size), "ask for the number of ranks");
  check(gmh_mem_create(l, sizeof numbers, GMH_READ | GMH_WRITE, GMH_WITH_SHADOW, &buffer), "create memory");
  check(gmh_mem_pointers(buffer, &gpu, &host, NULL), "ask for pointers");
  state.host = host;

  run_flow(l, &state, buffer, gpu);
  cudaMemcpy(numbers, gpu, sizeof numbers, cudaMemcpyDeviceToHost);
  all = state.size * (state.size + 1) / 2;
  up_to = (state.rank + 1) * (state.rank + 2) / 2;
  expect(&state, numbers, state.rank == 0 ? ROUNDS * all : (ROUNDS - 1) * all + up_to, "round the ring");

  for (int i = 0; i < NUMBERS; ++i) numbers[i] = state.rank;
  cudaMemcpy(gpu, numbers, sizeof numbers, cudaMemcpyHostToDevice);
  check(gmh_Irecv(l, NULL, got, NUMBERS, GMH_INT, (state.rank + 1) % state.size, 1, &events[0]), "receive");
  check(gmh_Isend(l, NULL, gpu, NUMBERS, GMH_INT, (state.rank + state.size - 1) % state.size, 1, &events[1]),
        "send");
  check(gmh_waitall(2, events), "wait");
  expect(&state, got, (state.rank + 1) % state.size, "conventional");
  if (events[0] != NULL || events[1] != NULL) __atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);

  check(gmh_Allreduce(l, gpu, gpu, NUMBERS, GMH_INT, GMH_SUM), "allreduce");
  cudaMemcpy(numbers, gpu, sizeof numbers, cudaMemcpyDeviceToHost);
  expect(&state, numbers, state.size * (state.size - 1) / 2, "allreduce");
  return NULL;
}

int main(int argc, char** argv) {
  const int gpus = argc > 1 ? atoi(argv[1]) : 1;
  int of_all = 0;
  check(gmh_init(&argc, &argv, gpus, of_each_rank, NULL), "gmh_init");
  MPI_Allreduce(&failures, &of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return of_all != 0;
}
