// Kernels mark partitions of a partitioned message (MPI-4, MPI_Psend_init) ready, under Penstock. One header,
// for CUDA programs; it links nothing of Penstock and works without it.
//
//   MPI_Psend_init(buffer, partitions, count, type, peer, tag, communicator, info, &request);
//   penstock_request marks;
//   bool by_kernels = penstock_kernel_request(request, &marks) == MPI_SUCCESS;
//   ...
//   MPI_Start(&request);
//   kernel<<<...>>>(buffer, marks);                                // calls penstock_pready(marks, i)
//   if (!by_kernels) { cudaStreamSynchronize(stream); MPI_Pready_range(0, partitions - 1, request); }
//   MPI_Wait(&request, MPI_STATUS_IGNORE);
#pragma once

#include <dlfcn.h>
#if __has_include(<mpi.h>)  // sources of kernels alone may be compiled without
#include <mpi.h>
#endif

/// A request as kernels need it, passed to them by value. Valid until the request is freed.
struct penstock_request {
  unsigned int* ready;  ///< null: kernels cannot mark
  int partitions;
};

#if __has_include(<mpi.h>)
/// Fills `*marks` for kernels on the device of the request's buffer. `request`: of MPI_Psend_init, inactive.
/// Returns MPI_SUCCESS, or MPI_ERR_OTHER where kernels cannot mark its partitions: without Penstock, or where
/// the buffer is not on a device. MPI_Pready has to be called then. Raises no MPI error.
inline int penstock_kernel_request(MPI_Request request, penstock_request* marks) {
  using Ask = int (*)(MPI_Request, unsigned int**, int*);
  *marks = {nullptr, 0};
  const Ask ask = reinterpret_cast<Ask>(dlsym(RTLD_DEFAULT, "penstock_ready_words"));
  return ask == nullptr ? MPI_ERR_OTHER : ask(request, &marks->ready, &marks->partitions);
}
#endif

/// Marks a partition ready, once in each operation (from MPI_Start to its completion). One thread calls it,
/// after what all threads have written to the partition is visible to it: behind __syncthreads() if one block
/// has, behind a counter that the blocks increment after __threadfence() otherwise. Does nothing if kernels
/// cannot mark.
#ifdef __CUDACC__
__device__ inline void penstock_pready(penstock_request marks, int partition) {
  if (marks.ready == nullptr) return;
  __threadfence_system();
  *static_cast<volatile unsigned int*>(marks.ready + partition) = 1;
}
#else  // kernels of a simulated GPU are functions of the host
inline void penstock_pready(penstock_request marks, int partition) {
  if (marks.ready != nullptr) __atomic_store_n(marks.ready + partition, 1u, __ATOMIC_RELEASE);
}
#endif
