#include "analysis/report/conclusions/transport_remedies.hpp"

#include <array>

namespace penstock::analysis {
namespace {

/// A row for each reason, and for programs that leave memory to an allocator.
struct Remedy {
  std::string_view reason;
  std::string_view allocator;  ///< empty: of any program
  std::string_view text;
  std::string_view title = {};
};

constexpr std::string_view of_async_pool = "sender's memory is from an async pool and cannot be exported";
constexpr std::string_view of_mapped_memory = "sender's memory is mapped by cuMemMap and cannot be exported";
constexpr std::string_view give_own_gpu = "Give each rank a GPU of its own.";
constexpr std::string_view title_of_own_gpu = "Give each rank a GPU of its own";
constexpr std::string_view pack_it = "Pack it into contiguous memory first.";
constexpr std::string_view title_of_packing = "Send contiguous memory";
constexpr std::string_view unpack_it = "Receive into contiguous memory, and unpack it from there.";
constexpr std::string_view title_of_unpacking = "Receive into contiguous memory";
constexpr std::array remedies{
    Remedy{of_async_pool, "", "Memory of cudaMalloc can be."},
    Remedy{of_async_pool, "PyTorch", "PyTorch takes it with PYTORCH_CUDA_ALLOC_CONF=backend:native."},
    Remedy{of_async_pool, "CuPy", "CuPy takes it from its own MemoryPool, not MemoryAsyncPool."},
    Remedy{of_async_pool, "RMM", "RMM takes it from CudaMemoryResource, not CudaAsyncMemoryResource."},
    Remedy{of_mapped_memory, "", "Memory of cudaMalloc can be."},
    Remedy{of_mapped_memory, "PyTorch",
           "PyTorch takes it with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False."},
    Remedy{"a copy within a GPU waits for the kernels of the other rank on it", "", give_own_gpu,
           title_of_own_gpu},
    Remedy{"small, and ranks share a GPU, where their kernels and copies take turns", "", give_own_gpu,
           title_of_own_gpu},
    Remedy{"MPI_Sendrecv_replace sends a copy", "", "MPI_Sendrecv with two buffers needs none.",
           "Exchange by MPI_Sendrecv with two buffers"},
    Remedy{"non-blocking, and no blocking collective on this communicator has prepared for it", "",
           "Call a blocking collective with buffers on the GPU on it once, before the first of these.",
           "Prepare the communicator by a blocking collective"},
    Remedy{"sender's payload is not contiguous", "", pack_it, title_of_packing},
    Remedy{"receiver's layout is not contiguous", "", unpack_it, title_of_unpacking},
    Remedy{"receiver's layout is not contiguous, and the sender's device is another", "", unpack_it,
           title_of_unpacking}};

}  // namespace

TransportRemedy remedy_of(std::string_view reason, std::string_view allocators) {
  TransportRemedy remedy;
  for (const Remedy& each : remedies) {
    if (each.reason == reason && allocators.find(each.allocator) != std::string_view::npos) {
      remedy.text.append(remedy.text.empty() ? "" : " ").append(each.text);
      remedy.title = each.title;
    }
  }
  return remedy;
}

}  // namespace penstock::analysis
