#include "library.hpp"

#include <cstring>
#include <mutex>
#include <set>

#include "registry.hpp"

namespace simulated_gpu {
namespace {

struct Library {
  explicit Library(const SimulatedGpuImage* all) : image(all) {}

  [[nodiscard]] const SimulatedGpuKernel* find(CUfunction function) const {
    for (std::size_t i = 0; i < image->count; ++i) {
      const SimulatedGpuKernel& kernel = image->kernels[i];
      if (reinterpret_cast<const SimulatedGpuKernel*>(function) == &kernel) return &kernel;
    }
    return nullptr;
  }
  void put_into(Context& context) {
    const std::scoped_lock lock(mutex);
    if (contexts.contains(context.id())) return;
    context.synchronise_and_hold_up_others();
    contexts.insert(context.id());
  }

  const SimulatedGpuImage* image;
  std::mutex mutex;
  std::set<unsigned> contexts;  ///< ids of those that it has been put into
};

Registry<Library, CUlibrary>& libraries() {
  static auto* const instance = new Registry<Library, CUlibrary>;
  return *instance;
}

}  // namespace

const SimulatedGpuKernel& kernel_in(Context& context, CUfunction function) {
  for (const auto& library : libraries().all()) {
    const SimulatedGpuKernel* const kernel = library->find(function);
    if (kernel == nullptr) continue;
    library->put_into(context);
    return *kernel;
  }
  throw Failure(CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned jit_options,
                           CUlibraryOption*, void**, unsigned library_options) {
  return driver_call(__func__, [&] {
    require(library != nullptr && code != nullptr, CUDA_ERROR_INVALID_VALUE);
    require(jit_options == 0 && library_options == 0, CUDA_ERROR_NOT_SUPPORTED);
    const auto* const image = static_cast<const SimulatedGpuImage*>(code);
    require(image->magic == SIMULATED_GPU_IMAGE_MAGIC, CUDA_ERROR_INVALID_IMAGE);
    *library = libraries().add(std::make_shared<Library>(image));
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return driver_call(__func__, [&] {
    libraries().take(library);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return driver_call(__func__, [&] {
    require(kernel != nullptr && name != nullptr, CUDA_ERROR_INVALID_VALUE);
    const SimulatedGpuImage& image = *libraries().get(library)->image;
    for (std::size_t i = 0; i < image.count; ++i) {
      if (std::strcmp(image.kernels[i].name, name) != 0) continue;
      *kernel = reinterpret_cast<CUkernel>(const_cast<SimulatedGpuKernel*>(&image.kernels[i]));
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return driver_call(__func__, [&] {
    require(function != nullptr, CUDA_ERROR_INVALID_VALUE);
    const auto wanted = reinterpret_cast<CUfunction>(kernel);
    static_cast<void>(kernel_in(current_context(), wanted));
    *function = wanted;
    return CUDA_SUCCESS;
  });
}
