#include "interpose/calls/quiet_errors.hpp"

#include <cstddef>
#include <mutex>
#include <utility>

#include "interpose/binding/mpi_binding.hpp"

namespace penstock::interpose {
namespace {

/// The communicators on which a library raises what belongs to none.
enum Raised : std::size_t { on_world, on_self, raised_count };

MPI_Comm communicator_of(std::size_t raised) noexcept {
  return raised == on_world ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

/// Error handlers of one of them. Once they are hidden, `ours` is set, and calls the program's.
struct Handlers {
  MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
  MPI_Errhandler programs = MPI_ERRHANDLER_NULL;  ///< the program's, once it is hidden; owned
};

/// The mutex is held around local calls of the MPI library only.
struct HiddenHandlers {
  std::recursive_mutex mutex;  ///< a handler may be called for wrong arguments, and set another one
  /// Few programs set a handler on MPI_COMM_SELF. If it is left as it is, a library that raises errors there
  /// ends the job without Penstock, too.
  bool self_hears = false;
  bool are_hidden = false;
  Handlers of[raised_count];
};

// never destroyed: static destructors of the application may complete requests
HiddenHandlers& hidden_handlers() {
  static HiddenHandlers& the_handlers = *new HiddenHandlers;
  return the_handlers;
}

/// QuietErrors of this thread.
[[gnu::tls_model("initial-exec")]] constinit thread_local unsigned quiet_here = 0;

/// Restores our handler when the program's has returned or thrown.
class OursAgain {
 public:
  OursAgain(MPI_Comm communicator, std::size_t raised) noexcept
      : communicator_(communicator), raised_(raised) {}
  ~OursAgain() {
    HiddenHandlers& hidden = hidden_handlers();
    const std::lock_guard lock(hidden.mutex);
    if (communicator_ == communicator_of(raised_))
      PMPI_Comm_set_errhandler(communicator_, hidden.of[raised_].ours);
  }
  OursAgain(const OursAgain&) = delete;
  OursAgain& operator=(const OursAgain&) = delete;

 private:
  MPI_Comm communicator_;
  std::size_t raised_;
};

/// Our handler. Another communicator has it if it was made from that one; it gets the program's now, unless
/// show_handler() has given it.
template <std::size_t raised>
void hear(MPI_Comm* communicator, int* code, ...) {
  if (quiet_here != 0) return;
  HiddenHandlers& hidden = hidden_handlers();
  {
    const std::lock_guard lock(hidden.mutex);
    PMPI_Comm_set_errhandler(*communicator, hidden.of[raised].programs);
  }
  const OursAgain ours_again(*communicator, raised);
  PMPI_Comm_call_errhandler(*communicator, *code);
}

/// Makes our handlers, once. Returns false if the MPI library cannot.
bool has_ours(HiddenHandlers& hidden) noexcept {
  constexpr MPI_Comm_errhandler_function* functions[raised_count] = {hear<on_world>, hear<on_self>};
  for (std::size_t raised = 0; raised < raised_count; ++raised) {
    MPI_Errhandler& ours = hidden.of[raised].ours;
    if (ours == MPI_ERRHANDLER_NULL && PMPI_Comm_create_errhandler(functions[raised], &ours) != MPI_SUCCESS)
      return false;
  }
  return true;
}

/// Has our handler set where the program's is, which is noted.
void hide(HiddenHandlers& hidden, std::size_t raised) noexcept {
  MPI_Errhandler programs = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(communicator_of(raised), &programs) != MPI_SUCCESS) return;
  MPI_Errhandler& before = hidden.of[raised].programs;
  if (before != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&before);
  before = programs;
  PMPI_Comm_set_errhandler(communicator_of(raised), hidden.of[raised].ours);
}

/// Hides the program's handlers from now on, if errors that the library raises there do more than return.
void hide_if_heard(HiddenHandlers& hidden) noexcept {
  MPI_Errhandler of_world = MPI_ERRHANDLER_NULL;
  if (hidden.are_hidden || PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world) != MPI_SUCCESS) return;
  const bool is_heard = of_world != MPI_ERRORS_RETURN || hidden.self_hears;
  PMPI_Errhandler_free(&of_world);
  if (!is_heard || !has_ours(hidden)) return;
  for (std::size_t raised = 0; raised < raised_count; ++raised) hide(hidden, raised);
  hidden.are_hidden = true;
  detail::handlers_are_hidden.store(true, std::memory_order_release);
}

}  // namespace

void QuietErrors::begin() noexcept {
  ++quiet_here;
  is_begun_ = true;
}

void QuietErrors::end() noexcept {
  --quiet_here;
}

int set_error_handler(MPI_Comm communicator, MPI_Errhandler handler, int (*set)(MPI_Comm, MPI_Errhandler)) {
  if (!library_raises_on_none) return set(communicator, handler);
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  const int code = set(communicator, handler);
  if (code != MPI_SUCCESS) return code;
  if (communicator == MPI_COMM_SELF)
    hidden.self_hears = handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL;
  for (std::size_t raised = 0; hidden.are_hidden && raised < raised_count; ++raised) {
    if (communicator == communicator_of(raised)) hide(hidden, raised);
  }
  hide_if_heard(hidden);
  return code;
}

int get_error_handler(MPI_Comm communicator, MPI_Errhandler* handler, int (*get)(MPI_Comm, MPI_Errhandler*)) {
  if (!library_raises_on_none) return get(communicator, handler);
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  const int code = get(communicator, handler);
  for (std::size_t raised = 0; hidden.are_hidden && code == MPI_SUCCESS && raised < raised_count; ++raised) {
    if (*handler != hidden.of[raised].ours) continue;
    PMPI_Errhandler_free(handler);
    // the library gives a share of the one that is set
    const OursAgain ours_again(communicator, raised);
    PMPI_Comm_set_errhandler(communicator, hidden.of[raised].programs);
    return get(communicator, handler);
  }
  return code;
}

void show_handler(MPI_Comm made) noexcept {
  if (!detail::handlers_are_hidden.load(std::memory_order_acquire)) return;
  if (made == MPI_COMM_WORLD || made == MPI_COMM_SELF) return;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (get_error_handler(made, &handler, PMPI_Comm_get_errhandler) == MPI_SUCCESS)
    PMPI_Errhandler_free(&handler);
}

MPI_Errhandler exchange_handler_of_self(MPI_Errhandler handler) noexcept {
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  if (hidden.are_hidden) {
    before = std::exchange(hidden.of[on_self].programs, MPI_ERRHANDLER_NULL);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    hide(hidden, on_self);
    return before;
  }
  if (PMPI_Comm_get_errhandler(MPI_COMM_SELF, &before) != MPI_SUCCESS) return MPI_ERRHANDLER_NULL;
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  return before;
}

void note_error_handlers() noexcept {
  if constexpr (library_raises_on_none) {
    HiddenHandlers& hidden = hidden_handlers();
    const std::lock_guard lock(hidden.mutex);
    hide_if_heard(hidden);
  }
}

}  // namespace penstock::interpose
