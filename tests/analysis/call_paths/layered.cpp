// A program of some layers, all of whose communication goes through a library of its own:
//   layered
// job_paths_test.cpp has the numbers of its calls.
#include <ucontext.h>

#include <array>
#include <thread>

#include "communicate.hpp"
#include "tests/support/kept_function.hpp"

namespace {

constexpr int steps = 10;
constexpr int depth = 20;

// Functions with frames of the same size, so that only their return addresses tell them apart.
PENSTOCK_KEPT_FUNCTION double update_temperature(double value, MPI_Comm communicator) {
  return communicate(value, communicator) + 1;
}

PENSTOCK_KEPT_FUNCTION double update_pressure(double value, MPI_Comm communicator) {
  return communicate(value, communicator) + 1;
}

PENSTOCK_KEPT_FUNCTION int settle() {
  Kokkos::fence_ranks();
  return 1;
}

PENSTOCK_KEPT_FUNCTION double descend(int levels, double value) {
  const double below = levels > 1 ? descend(levels - 1, value) : communicate(value, MPI_COMM_WORLD);
  return below + 1;
}

PENSTOCK_KEPT_FUNCTION double step(double value) {
  value = update_temperature(value, MPI_COMM_WORLD);
  value = update_pressure(value, MPI_COMM_WORLD);
  return value + settle();
}

ucontext_t of_main;
ucontext_t of_coroutine;
std::array<char, 1 << 18> stack;

void run_coroutine() {
  update_pressure(1, MPI_COMM_SELF);
  swapcontext(&of_coroutine, &of_main);
}

void call_from_a_coroutine() {
  getcontext(&of_coroutine);
  of_coroutine.uc_stack.ss_sp = stack.data();
  of_coroutine.uc_stack.ss_size = stack.size();
  of_coroutine.uc_link = &of_main;
  makecontext(&of_coroutine, run_coroutine, 0);
  swapcontext(&of_main, &of_coroutine);
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  double value = 1;
  for (int i = 0; i < steps; ++i) value = step(value) / 2;
  value += descend(depth, value);
  if (level == MPI_THREAD_MULTIPLE) {
    std::thread([] { update_temperature(1, MPI_COMM_SELF); }).join();
  } else {
    update_temperature(1, MPI_COMM_SELF);
  }
  call_from_a_coroutine();
  MPI_Finalize();
  return value > 0 ? 0 : 1;
}
