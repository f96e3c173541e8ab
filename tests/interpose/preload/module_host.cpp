// A program without MPI that opens a module for itself alone, as Python opens its extensions.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  void* const module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    std::puts(dlerror());
    return 65;
  }
  return reinterpret_cast<int (*)()>(dlsym(module, "run_mpi"))();
}
