// A module that brings MPI into a program without it, and opens MPI's Fortran bindings only after MPI_Init,
// as an extension of Python's that is written in Fortran does. Exit codes: 77 without a GPU or the bindings.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <vector>

namespace {

void* open_bindings() {
#ifdef OPEN_MPI
  return dlopen("libmpi_usempif08.so.40", RTLD_NOW | RTLD_LOCAL);
#else
  void* const bindings = dlopen("libmpichfort.so.12", RTLD_NOW | RTLD_LOCAL);
  return bindings != nullptr ? bindings : dlopen("libmpifort.so.12", RTLD_NOW | RTLD_LOCAL);
#endif
}

void send(const std::vector<int>& values) {
  void* device = nullptr;
  const std::size_t bytes = values.size() * sizeof(int);
  cudaMalloc(&device, bytes);
  cudaMemcpy(device, values.data(), bytes, cudaMemcpyHostToDevice);
  MPI_Send(device, static_cast<int>(values.size()), MPI_INT, 1, 0, MPI_COMM_WORLD);
  cudaFree(device);
}

/// Waits for the message as a program does that has `use mpi_f08`.
std::vector<int> receive(std::size_t count, void* bindings) {
  using Wait = void(MPI_Fint * request, MPI_Fint * status, MPI_Fint * error);
  std::vector<int> values(count);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(values.data(), static_cast<int>(count), MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  MPI_Fint handle = MPI_Request_c2f(request);
  std::array<MPI_Fint, 64> status{};
  MPI_Fint error = MPI_ERR_OTHER;
  reinterpret_cast<Wait*>(dlsym(bindings, "mpi_wait_f08_"))(&handle, status.data(), &error);
  return error == MPI_SUCCESS ? values : std::vector<int>();
}

}  // namespace

extern "C" int run_mpi() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int gpus = 0;
  void* const bindings = open_bindings();
  const bool can_run = cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0 && bindings != nullptr;
  bool has_arrived = true;
  if (can_run) {
    cudaSetDevice(rank % gpus);
    for (int i = 0; i < 3; ++i) {
      const std::vector<int> values(5000, 1000 + i);
      if (rank == 0) send(values);
      if (rank == 1) has_arrived = receive(values.size(), bindings) == values && has_arrived;
    }
  }
  MPI_Finalize();
  if (!can_run) return 77;
  if (!has_arrived) std::puts("a message did not arrive");
  return has_arrived ? 0 : 1;
}
