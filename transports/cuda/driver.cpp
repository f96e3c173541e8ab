#include "transports/cuda/driver.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <mutex>

#include "transports/cuda/driver_symbol.hpp"
#include "transports/host/symbol.hpp"

namespace penstock::transports::cuda {
namespace {

std::atomic<const Driver*> found{nullptr};
std::atomic<bool> closed{false};
/// The linker's count of objects loaded when libcuda was last looked for in vain.
std::atomic<std::uint64_t> objects_when_absent{0};

std::atomic<const CallMarks*> call_marks{nullptr};
/// The functions that MarkedCall calls, as they were found.
Driver unmarked;

/// Stands in the table for the function `member`.
template <auto member, typename Function>
struct MarkedCall;
template <auto member, typename... Arguments>
struct MarkedCall<member, CUresult (*Driver::*)(Arguments...)> {
  static CUresult CUDAAPI call(Arguments... arguments) {
    const CallMarks* const marks = call_marks.load(std::memory_order_acquire);
    if (marks != nullptr) marks->before();
    const CUresult result = (unmarked.*member)(arguments...);
    if (marks != nullptr) marks->after();
    return result;
  }
};

template <auto... members>
void mark(Driver& driver) noexcept {
  unmarked = driver;
  const auto mark_one = []<auto member>(auto& function) {
    if (function != nullptr) function = MarkedCall<member, decltype(member)>::call;
  };
  (mark_one.template operator()<members>(driver.*members), ...);
}

std::uint64_t objects_loaded() noexcept {
  std::uint64_t count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = object->dlpi_adds;
        return 1;  // the first object already has the count
      },
      &count);
  return count;
}

bool resolve(void* library, Driver& driver) noexcept {
  driver.library = library;
  bool complete = true;
#define NEEDED(function) \
  complete = find_symbol(library, PENSTOCK_DRIVER_SYMBOL(function), driver.function) && complete;
#define OPTIONAL(function) find_symbol(library, PENSTOCK_DRIVER_SYMBOL(function), driver.function);
#include "transports/cuda/driver_functions.def"
#undef OPTIONAL
#undef NEEDED
  mark<&Driver::cuCtxSynchronize, &Driver::cuStreamSynchronize, &Driver::cuMemcpyAsync,
       &Driver::cuMemcpyPeerAsync, &Driver::cuMemcpy2DAsync, &Driver::cuMemsetD8Async,
       &Driver::cuLaunchKernel>(driver);
  return complete;
}

/// Keeps the library loaded for ever: handles into it outlive every dlclose of the application.
const Driver* open(int mode) noexcept {
  static std::mutex once;
  static Driver driver;
  const std::lock_guard lock(once);
  if (closed.load(std::memory_order_relaxed)) return nullptr;
  if (const Driver* earlier = found.load(std::memory_order_relaxed)) return earlier;
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | mode);
  if (library == nullptr || !resolve(library, driver)) return nullptr;
  found.store(&driver, std::memory_order_release);
  return &driver;
}

}  // namespace

const Driver* driver() noexcept {
  if (const Driver* result = found.load(std::memory_order_acquire)) return result;
  // counted before looking, so that a library that is loaded in between is found the next time
  const std::uint64_t objects = objects_loaded();
  if (objects == objects_when_absent.load(std::memory_order_relaxed)) return nullptr;
  const Driver* result = open(RTLD_NOLOAD);
  if (result == nullptr) objects_when_absent.store(objects, std::memory_order_relaxed);
  return result;
}

const Driver* load_driver() noexcept {
  return open(0);
}

void mark_calls(const CallMarks& marks) noexcept {
  call_marks.store(&marks, std::memory_order_release);
}

void close_driver() noexcept {
  closed.store(true, std::memory_order_relaxed);
  found.store(nullptr, std::memory_order_release);
}

}  // namespace penstock::transports::cuda
