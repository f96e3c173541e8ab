// Wraps the calls that give MPI the buffer of buffered sends and take it back. If that is device memory, the
// MPI library gets as much host memory in its place: it packs messages there by the processor.
#include <mpi.h>

#include <mutex>
#include <utility>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/progress/gathering.hpp"
#include "interpose/staging/host_memory.hpp"
#include "interpose/staging/out_of_reach.hpp"

namespace penstock::interpose {
namespace {

/// The device memory that the program has attached, and its stand-in. A process attaches one buffer at a
/// time.
struct AttachedBuffer {
  void* device = nullptr;
  HostMemory stand_in;
};

/// Never destroyed, as static destructors may send.
class Attached {
 public:
  void keep(AttachedBuffer buffer) noexcept {
    const std::lock_guard guard(mutex_);
    buffer_ = std::move(buffer);
  }
  /// Returns the program's buffer for the one that the MPI library has detached, and frees its stand-in.
  void* give_back(void* detached) noexcept {
    const std::lock_guard guard(mutex_);
    if (detached == nullptr || detached != buffer_.stand_in.data()) return detached;
    return std::exchange(buffer_, {}).device;
  }

 private:
  std::mutex mutex_;
  AttachedBuffer buffer_;
};
Attached& attached() noexcept {
  static Attached& the_buffer = *new Attached;
  return the_buffer;
}

/// `library(buffer)` attaches it.
template <typename Library>
int attach_buffer(const char* mpi_call, void* buffer, MPI_Count size, Library library) {
  // the library reports a negative size
  if (size < 0 || !is_out_of_reach(buffer)) return library(buffer);
  AttachedBuffer made{buffer, HostMemory::take(static_cast<std::size_t>(size))};
  if (made.stand_in.data() == nullptr) return raise_out_of_memory(MPI_COMM_NULL, mpi_call);
  const int code = library(made.stand_in.data());
  if (code == MPI_SUCCESS) attached().keep(std::move(made));
  return code;
}

/// `library()` detaches the buffer, and stores its address at `address`.
template <typename Library>
int detach_buffer(void* address, Library library) {
  const int code = library();
  void*& detached = *static_cast<void**>(address);
  if (code == MPI_SUCCESS) detached = attached().give_back(detached);
  return code;
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

#define PENSTOCK_ATTACH(name, Count)                                                         \
  PENSTOCK_EXPORT int MPI_##name(void* buffer, Count size) try {                             \
    CallScope scope(Function::name, __builtin_return_address(0));                            \
    if (scope.stands_aside()) return PMPI_##name(buffer, size);                              \
    return attach_buffer("MPI_" #name, buffer, size,                                         \
                         [&](void* host_memory) { return PMPI_##name(host_memory, size); }); \
  }                                                                                          \
  PENSTOCK_OUT_OF_MEMORY(MPI_COMM_NULL)

#define PENSTOCK_DETACH(name, Count)                                                                        \
  PENSTOCK_EXPORT int MPI_##name(void* address, Count* size) {                                              \
    CallScope scope(Function::name, __builtin_return_address(0));                                           \
    if (scope.stands_aside()) return PMPI_##name(address, size);                                            \
    return detach_buffer(                                                                                   \
        address, [&] { return among_others<Function::name>([&] { return PMPI_##name(address, size); }); }); \
  }

PENSTOCK_ATTACH(Buffer_attach, int)
PENSTOCK_DETACH(Buffer_detach, int)
#if PENSTOCK_HAS_LARGE_COUNTS
PENSTOCK_ATTACH(Buffer_attach_c, MPI_Count)
PENSTOCK_DETACH(Buffer_detach_c, MPI_Count)
#endif
