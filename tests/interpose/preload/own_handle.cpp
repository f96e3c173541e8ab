// Uses MPI by functions that it takes from the library's own handle, as MPI.jl does: no preload sees these
// calls.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return 65;
  const bool initialises = argv[2][0] == '1';
  if (initialises) {
    if (reinterpret_cast<int (*)(int*, char***)>(dlsym(library, "MPI_Init"))(nullptr, nullptr) != 0)
      return 66;
    reinterpret_cast<int (*)()>(dlsym(library, "MPI_Finalize"))();
  }
  std::puts("done");
  return 0;
}
