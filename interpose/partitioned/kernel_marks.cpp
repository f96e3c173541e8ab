// The words by which kernels mark partitions ready, for penstock/device.cuh.
#include "interpose/binding/mpi_level.hpp"

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/progress_lock.hpp"

#if PENSTOCK_HAS_MPI_4
#include <new>

#include "interpose/partitioned/partitioned_request.hpp"
#endif

using namespace penstock::interpose;

namespace {

/// Keeps the thread away that steps pending work, as CallScope does in calls of MPI.
class Turn {
 public:
  Turn() noexcept : is_taken_(progress_lock.take()) {}
  ~Turn() {
    if (is_taken_) progress_lock.give();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool is_taken_;
};

}  // namespace

extern "C" {
PENSTOCK_EXPORT int penstock_ready_words(MPI_Request request, unsigned** words, int* partitions) noexcept;
}

/// Returns MPI_SUCCESS, or MPI_ERR_OTHER if the request is active or not one whose partitions kernels may
/// mark. Raises nothing.
int penstock_ready_words(MPI_Request request, unsigned** words, int* partitions) noexcept {
  *words = nullptr;
  *partitions = 0;
#if PENSTOCK_HAS_MPI_4
  try {
    const Turn turn;
    const FoundMessage found = find_message(request);
    if (found.message == nullptr || found.is_active) return MPI_ERR_OTHER;
    *words = static_cast<unsigned*>(found.message->words_for_kernels());
    if (*words == nullptr) return MPI_ERR_OTHER;
    *partitions = found.message->partitions();
    return MPI_SUCCESS;
  } catch (const std::bad_alloc&) {
    return MPI_ERR_OTHER;
  }
#else
  static_cast<void>(request);
  return MPI_ERR_OTHER;
#endif
}
