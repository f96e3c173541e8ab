#include "transports/cuda/kernels.hpp"

#include <atomic>

#include "transports/cuda/context.hpp"
#include "transports/cuda/kernel_image.hpp"

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
#define ROW(name, Type) "penstock_fused_" #name,
        PENSTOCK_REDUCED_TYPES(ROW)
#undef ROW
            "penstock_fused_blocks",
    "penstock_pack_list_32",
    "penstock_pack_list_64",
    "penstock_measure_set_32",
    "penstock_measure_set_64",
    "penstock_fill_set_32",
    "penstock_fill_set_64",
    "penstock_place_set",
    "penstock_unpack_list_32",
    "penstock_unpack_list_64",
    "penstock_standby",
};
static_assert(std::size(names) == kernel_count);

/// Why the process has none; written before the flag that nobody has been told.
constinit Status refusal;
constinit std::atomic<bool> is_refusal_untold{false};

}  // namespace

const Kernels& Kernels::of_process() noexcept {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) {
    static const Kernels none(nullptr);
    return none;
  }
  static const Kernels loaded = [&] {
    const Kernels kernels(driver);
    refusal = kernels.status();
    is_refusal_untold.store(!refusal.ok(), std::memory_order_release);
    return kernels;
  }();
  return loaded;
}

Status Kernels::take_refusal() noexcept {
  // mostly there is none: no write to what all threads read
  if (!is_refusal_untold.load(std::memory_order_relaxed)) return {};
  return is_refusal_untold.exchange(false, std::memory_order_acquire) ? refusal : Status{};
}

Kernels::Kernels(const Driver* driver) noexcept : status_(driver == nullptr ? no_driver() : load(*driver)) {}

Status Kernels::load(const Driver& driver) noexcept {
  if (driver.cuLibraryLoadData == nullptr || driver.cuLibraryGetKernel == nullptr ||
      driver.cuLibraryUnload == nullptr || driver.cuLaunchKernel == nullptr)
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
