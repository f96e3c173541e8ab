#include "interpose/calls/quiet_errors.hpp"

#include <mutex>

#include "interpose/binding/mpi_binding.hpp"

namespace penstock::interpose {
namespace {

/// Error handlers of MPI_COMM_WORLD. While errors are kept quiet, `ours` is set, which calls the program's in
/// all other threads. The mutex is held around local calls of the MPI library only.
struct WorldHandler {
  std::recursive_mutex mutex;  ///< a handler may be called for wrong arguments, and set another one
  unsigned quiet = 0;          ///< QuietErrors that have begun
  MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
  MPI_Errhandler programs = MPI_ERRHANDLER_NULL;  ///< the program's, while errors are kept quiet; owned
};

// never destroyed: static destructors of the application may complete requests
WorldHandler& world_handler() {
  static WorldHandler& the_handler = *new WorldHandler;
  return the_handler;
}

/// QuietErrors of this thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned quiet_here = 0;

/// Restores our handler when the program's has returned or thrown.
class OursAgain {
 public:
  explicit OursAgain(MPI_Comm communicator) noexcept : communicator_(communicator) {}
  ~OursAgain() {
    WorldHandler& handler = world_handler();
    const std::lock_guard lock(handler.mutex);
    if (handler.quiet != 0 && communicator_ == MPI_COMM_WORLD)
      PMPI_Comm_set_errhandler(communicator_, handler.ours);
  }
  OursAgain(const OursAgain&) = delete;
  OursAgain& operator=(const OursAgain&) = delete;

 private:
  MPI_Comm communicator_;
};

/// Our handler. Another communicator has it if another thread made it from MPI_COMM_WORLD meanwhile; such a
/// communicator gets the program's handler now.
void hear(MPI_Comm* communicator, int* code, ...) {
  if (quiet_here != 0) return;
  WorldHandler& handler = world_handler();
  {
    const std::lock_guard lock(handler.mutex);
    MPI_Errhandler programs = MPI_ERRHANDLER_NULL;
    if (handler.quiet != 0) {
      PMPI_Comm_set_errhandler(*communicator, handler.programs);
    } else if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &programs) == MPI_SUCCESS) {
      PMPI_Comm_set_errhandler(*communicator, programs);
      PMPI_Errhandler_free(&programs);
    }
  }
  const OursAgain ours_again(*communicator);
  PMPI_Comm_call_errhandler(*communicator, *code);
}

void look_at_world() noexcept {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) != MPI_SUCCESS) return;
  detail::world_may_hear.store(handler != MPI_ERRORS_RETURN, std::memory_order_relaxed);
  PMPI_Errhandler_free(&handler);
}

}  // namespace

void QuietErrors::begin() noexcept {
  WorldHandler& handler = world_handler();
  const std::lock_guard lock(handler.mutex);
  if (handler.quiet == 0) {
    if (handler.ours == MPI_ERRHANDLER_NULL &&
        PMPI_Comm_create_errhandler(hear, &handler.ours) != MPI_SUCCESS)
      return;
    if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler.programs) != MPI_SUCCESS) return;
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler.ours);
  }
  ++handler.quiet;
  ++quiet_here;
  is_begun_ = true;
}

void QuietErrors::end() noexcept {
  WorldHandler& handler = world_handler();
  const std::lock_guard lock(handler.mutex);
  --quiet_here;
  if (--handler.quiet != 0) return;
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, handler.programs);
  PMPI_Errhandler_free(&handler.programs);
}

int set_error_handler(MPI_Comm communicator, MPI_Errhandler handler, int (*set)(MPI_Comm, MPI_Errhandler)) {
  if (!library_raises_on_world) return set(communicator, handler);
  WorldHandler& world = world_handler();
  const std::lock_guard lock(world.mutex);
  const int code = set(communicator, handler);
  if (code != MPI_SUCCESS) return code;
  if (world.quiet == 0) {
    look_at_world();
  } else if (communicator == MPI_COMM_WORLD) {
    PMPI_Errhandler_free(&world.programs);
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &world.programs);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, world.ours);
  }
  return code;
}

void note_error_handlers() noexcept {
  if constexpr (library_raises_on_world) {
    WorldHandler& world = world_handler();
    const std::lock_guard lock(world.mutex);
    if (world.quiet == 0) look_at_world();
  }
}

}  // namespace penstock::interpose
