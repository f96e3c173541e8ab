// The query that programs make before they pass device pointers: "is this MPI CUDA-aware?" With Penstock it
// is.
#include <dlfcn.h>

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/binding/required_functions.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/node/settings.hpp"

namespace penstock::interpose {
namespace {

/// Only looks for the library: cuInit would fix CUDA_VISIBLE_DEVICES before a program that sets it by rank
/// has done so.
bool driver_is_installed() noexcept {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return false;
  dlclose(driver);
  return true;
}

bool serves_device_buffers() noexcept {
  if (!is_awake()) read_settings();  // programs also query before MPI_Init
  return settings().move && missing_function() == nullptr && driver_is_installed();
}

/// Returns the library's own function; null if it has none or cannot be called now (MPICH aborts outside Init
/// … Finalize).
template <typename Question>
Question* own_question(const char* name) noexcept {
  int is_initialized = 0;
  int is_finalized = 0;
  if (bind_mpi() != Binding::bound || PMPI_Initialized(&is_initialized) != MPI_SUCCESS ||
      PMPI_Finalized(&is_finalized) != MPI_SUCCESS || is_initialized == 0 || is_finalized != 0) {
    return nullptr;
  }
  return reinterpret_cast<Question*>(find_mpi_symbol(name));
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

// If Penstock does not serve device buffers, the answer is the MPI library's own.
PENSTOCK_EXPORT int MPIX_Query_cuda_support() {
  if (serves_device_buffers()) return 1;
  const auto own = own_question<int()>("MPIX_Query_cuda_support");
  return own != nullptr ? own() : 0;
}

#ifdef MPIX_GPU_SUPPORT_CUDA
// MPICH's query with the same meaning.
PENSTOCK_EXPORT int MPIX_GPU_query_support(int gpu_type, int* is_supported) {
  if (gpu_type == MPIX_GPU_SUPPORT_CUDA && serves_device_buffers()) {
    *is_supported = 1;
    return MPI_SUCCESS;
  }
  const auto own = own_question<int(int, int*)>("MPIX_GPU_query_support");
  if (own != nullptr) return own(gpu_type, is_supported);
  *is_supported = 0;
  return MPI_SUCCESS;
}
#endif
