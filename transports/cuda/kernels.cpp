#include "transports/cuda/kernels.hpp"

#include <atomic>
#include <mutex>

#include "transports/cuda/context.hpp"
#include "transports/cuda/kernel_image.hpp"
#include "transports/host/guarded.hpp"

namespace penstock::transports::cuda {
namespace {

constexpr const char* names[] = {
#define ROW(capacity) "penstock_copy_" #capacity,
    PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
#define ROW(capacity) "penstock_strided_copy_" #capacity,
        PENSTOCK_STRIDED_CAPACITIES(ROW)
#undef ROW
            "penstock_gather_runs",
    "penstock_scatter_runs",
#define ROW(name, Type) "penstock_reduce_" #name,
    PENSTOCK_REDUCED_TYPES(ROW)
#undef ROW
#define ROW(name, Type) "penstock_one_shot_" #name,
        PENSTOCK_REDUCED_TYPES(ROW)
#undef ROW
            "penstock_one_shot_blocks",
    "penstock_pack_list_32",
    "penstock_pack_list_64",
    "penstock_measure_set_32",
    "penstock_measure_set_64",
    "penstock_fill_set_32",
    "penstock_fill_set_64",
    "penstock_place_set",
    "penstock_unpack_list_32",
    "penstock_unpack_list_64",
    "penstock_resident",
};
static_assert(std::size(names) == kernel_count);

/// The reason why the process has no kernels, or does not use them, until it is reported.
struct UntoldRefusal {
  std::mutex mutex;
  Status status;  ///< under the mutex
  std::atomic<bool> is_untold{false};

  void note(const Status& why) noexcept {
    const std::lock_guard lock(mutex);
    status = why;
    is_untold.store(!why.ok(), std::memory_order_release);
  }
};
constinit UntoldRefusal refusal;

/// After this many attempts in a row that found a context busy, the refusal is reported: the program is
/// slower for it.
constexpr std::uint32_t many_attempts = 1000;
std::atomic<std::uint32_t> attempts_in_vain{0};

constexpr Status busy_gpu{Code::declined, "the GPU was busy at each attempt to load them"};

/// Returns whether the work is done that the application has put into the legacy stream and into those that
/// wait for it.
bool is_done_with_its_work(const Driver& driver) noexcept {
  return !legacy_stream_is_captured(driver) && driver.cuStreamQuery(CU_STREAM_LEGACY) != CUDA_ERROR_NOT_READY;
}

}  // namespace

const Kernels& Kernels::of_process() noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) {
    static const Kernels none(nullptr);
    return none;
  }
  static const Kernels loaded = [&] {
    const Kernels kernels(driver);
    refusal.note(kernels.status());
    return kernels;
  }();
  return loaded;
}

Status Kernels::take_refusal() noexcept {
  // mostly there is none: no write to what all threads read
  if (!refusal.is_untold.load(std::memory_order_relaxed)) return {};
  const std::lock_guard lock(refusal.mutex);
  return refusal.is_untold.exchange(false, std::memory_order_relaxed) ? refusal.status : Status{};
}

Status Kernels::ready_in(Context& context) noexcept {
  if (context.has_kernels()) return {};
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  const ContextScope scope(context);
  if (!scope.status().ok()) return scope.status();
  if (!is_done_with_its_work(*driver)) {
    if (attempts_in_vain.fetch_add(1, std::memory_order_relaxed) + 1 == many_attempts) refusal.note(busy_gpu);
    return busy_gpu;
  }
  // what is loaded once a process may be loaded into all its contexts, too (CUDA_MODULE_LOADING=EAGER)
  const Kernels& kernels = of_process();
  if (!kernels.status().ok()) return kernels.status();
  Status put = kernels.put_into(context);
  static std::atomic<bool> is_told{false};
  if (!put.ok() && !is_told.exchange(true, std::memory_order_relaxed)) refusal.note(put);
  return put;
}

Status Kernels::ready_for(const Buffer& buffer) noexcept {
  return guarded([&]() -> Status {
    const ContextRef& context = Context::of(buffer);
    return context == nullptr ? no_driver() : ready_in(*context);
  });
}

Status Kernels::put_into(Context& context) const noexcept {
  const Driver& driver = *cuda::driver();
  for (CUfunction kernel : functions_) {
    CUfunction there = nullptr;
    if (Status put = check(driver.cuKernelGetFunction(&there, reinterpret_cast<CUkernel>(kernel)),
                           "cuKernelGetFunction");
        !put.ok())
      return put;
  }
  context.note_kernels();
  attempts_in_vain.store(0, std::memory_order_relaxed);
  return {};
}

Kernels::Kernels(const Driver* driver) noexcept : status_(driver == nullptr ? no_driver() : load(*driver)) {}

Status Kernels::load(const Driver& driver) noexcept {
  if (driver.cuLibraryLoadData == nullptr || driver.cuLibraryGetKernel == nullptr ||
      driver.cuLibraryUnload == nullptr || driver.cuKernelGetFunction == nullptr ||
      driver.cuLaunchKernel == nullptr)
    return {Code::declined, "kernels need a driver of CUDA 12"};
  const CaptureScope capture;
  CUlibrary library = nullptr;
  if (Status loaded = check(
          driver.cuLibraryLoadData(&library, kernels::image(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cuLibraryLoadData");
      !loaded.ok())
    return loaded;
  for (std::size_t i = 0; i < kernel_count; ++i) {
    CUkernel kernel = nullptr;
    if (Status found = check(driver.cuLibraryGetKernel(&kernel, library, names[i]), "cuLibraryGetKernel");
        !found.ok()) {
      driver.cuLibraryUnload(library);
      return found;
    }
    functions_[i] = reinterpret_cast<CUfunction>(kernel);
  }
  return {};
}

}  // namespace penstock::transports::cuda
