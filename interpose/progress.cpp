#include "interpose/progress.hpp"

#include <immintrin.h>
#include <sched.h>

#include <utility>

#include "interpose/engine.hpp"
#include "interpose/mpi_details.hpp"

namespace penstock::interpose {

bool must_poll() noexcept { return engine().must_poll(); }

void progress() { engine().progress(); }

int wait_polling(MPI_Request* request, MPI_Status* status) {
  Backoff backoff;
  for (;;) {
    int flag = 0;
    const int code = PMPI_Test(request, &flag, status);
    if (code != MPI_SUCCESS || flag != 0) return code;
    progress();
    backoff.pause();
  }
}

int finish(Operation operation, MPI_Status* status) {
  if (operation.pending == nullptr) {
    return must_poll() ? wait_polling(&operation.request, status) : PMPI_Wait(&operation.request, status);
  }
  Entry entry;
  entry.operation = std::move(operation);
  Backoff backoff;
  while (!Engine::advance(entry)) {
    progress();
    backoff.pause();
  }
  MPI_Status told = entry.status;
  int code = MPI_SUCCESS;
  if (entry.operation.request != MPI_REQUEST_NULL) code = PMPI_Wait(&entry.operation.request, &told);
  entry.operation.pending->mend(told);
  code = entry.operation.pending->complete(told, code);
  hand_out(told, status);
  return code;
}

void Backoff::pause() noexcept {
  // a round is an MPI progress call or more (0.1 µs and up): some tens of µs of spinning, then share the core
  constexpr unsigned spinning_rounds = 200;
  if (++rounds_ < spinning_rounds) {
    _mm_pause();
  } else {
    ::sched_yield();
  }
}

}  // namespace penstock::interpose
