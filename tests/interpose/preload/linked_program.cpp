// The module's calls in a program that links MPI in the usual way.
extern "C" int run_mpi();

int main() {
  return run_mpi();
}
