#include "interpose/calls/quiet_errors.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include "interpose/binding/mpi_binding.hpp"
#include "transports/host/guarded.hpp"

namespace penstock::interpose {
namespace {

/// The communicators on which a library raises what belongs to none.
enum Raised : std::size_t { on_world, on_self, raised_count };

MPI_Comm communicator_of(std::size_t raised) noexcept {
  return raised == on_world ? MPI_COMM_WORLD : MPI_COMM_SELF;
}

/// Error handlers of one of them. While errors are kept quiet, `ours` is set, which calls the program's in
/// all other threads.
struct Handlers {
  MPI_Errhandler ours = MPI_ERRHANDLER_NULL;
  MPI_Errhandler programs = MPI_ERRHANDLER_NULL;  ///< the program's, while it is hidden; owned
};

/// The mutex is held around local calls of the MPI library only.
struct HiddenHandlers {
  std::recursive_mutex mutex;     ///< a handler may be called for wrong arguments, and set another one
  unsigned quiet = 0;             ///< QuietErrors that have begun
  bool self_is_programs = false;  ///< the program has set a handler on MPI_COMM_SELF
  bool self_is_worlds = false;    ///< this library has set MPI_COMM_WORLD's there: follows_world()
  /// Few programs set a handler on MPI_COMM_SELF. If the program's ends the job, or returns, a library that
  /// raises errors there does so without Penstock, too.
  bool self_hears = false;
  Handlers of[raised_count];
};

// never destroyed: static destructors of the application may complete requests
HiddenHandlers& hidden_handlers() {
  static HiddenHandlers& the_handlers = *new HiddenHandlers;
  return the_handlers;
}

/// Returns the functions of error handlers, which the library does not tell. The mutex of HiddenHandlers
/// guards them.
std::map<MPI_Errhandler, MPI_Comm_errhandler_function*>& functions() {
  static auto& all = *new std::map<MPI_Errhandler, MPI_Comm_errhandler_function*>;
  return all;
}

/// What our handlers call: the program's that they stand for, once they were set. Null: it is no function of
/// the program's. Atomic, as the library calls handlers with its lock held, under which nobody may wait for
/// ours.
constinit std::array<std::atomic<MPI_Comm_errhandler_function*>, raised_count> called{};

void do_nothing(MPI_Comm*, int*, ...) {}

bool is_open_mpi() noexcept {
  if constexpr (mpi_family != MpiFamily::standard_abi) return mpi_family == MpiFamily::open_mpi;
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> version{};
  int length = 0;
  PMPI_Get_library_version(version.data(), &length);
  return std::string_view(version.data()).starts_with("Open MPI");
}

/// Returns whether errors on MPI_COMM_SELF are MPI_COMM_WORLD's handler's: MPICH's way as long as none has
/// been set there (4.0 to 5.0). Once there is one, even the default, it is no more: whoever sets one for a
/// while then leaves MPI_COMM_WORLD's there.
bool follows_world(const HiddenHandlers& hidden) noexcept {
  static const bool open_mpi = is_open_mpi();
  return !open_mpi && !hidden.self_is_programs;
}

/// Has our handler call the program's, which has been noted.
void call_programs(const HiddenHandlers& hidden, std::size_t raised) noexcept {
  const MPI_Errhandler programs = hidden.of[raised].programs;
  const auto found = functions().find(programs);
  called[raised].store(programs == MPI_ERRORS_RETURN ? do_nothing
                       : found == functions().end()  ? nullptr
                                                     : found->second,
                       std::memory_order_release);
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
    const Handlers& handlers = hidden.of[raised_];
    if (handlers.programs != MPI_ERRHANDLER_NULL && communicator_ == communicator_of(raised_))
      PMPI_Comm_set_errhandler(communicator_, handlers.ours);
  }
  OursAgain(const OursAgain&) = delete;
  OursAgain& operator=(const OursAgain&) = delete;

 private:
  MPI_Comm communicator_;
  std::size_t raised_;
};

/// Sets the program's handler on a communicator that has ours.
void give_programs(HiddenHandlers& hidden, std::size_t raised, MPI_Comm communicator) noexcept {
  MPI_Errhandler programs = hidden.of[raised].programs;
  if (programs != MPI_ERRHANDLER_NULL) {
    PMPI_Comm_set_errhandler(communicator, programs);
  } else if (PMPI_Comm_get_errhandler(communicator_of(raised), &programs) == MPI_SUCCESS) {
    PMPI_Comm_set_errhandler(communicator, programs);
    PMPI_Errhandler_free(&programs);
  }
}

/// Our handler. It calls the program's function, or has the library act where that has none. Another
/// communicator has our handler, too, if another thread made it from that one meanwhile.
template <std::size_t raised>
void hear(MPI_Comm* communicator, int* code, ...) {
  if (quiet_here != 0) return;
  if (MPI_Comm_errhandler_function* const function = called[raised].load(std::memory_order_acquire))
    return function(communicator, code);
  HiddenHandlers& hidden = hidden_handlers();
  {
    const std::lock_guard lock(hidden.mutex);
    give_programs(hidden, raised, *communicator);
  }
  const OursAgain ours_again(*communicator, raised);
  PMPI_Comm_call_errhandler(*communicator, *code);
}

void look_at_handlers(const HiddenHandlers& hidden) noexcept {
  MPI_Errhandler of_world = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world) != MPI_SUCCESS) return;
  detail::program_may_hear.store(of_world != MPI_ERRORS_RETURN || hidden.self_hears,
                                 std::memory_order_relaxed);
  PMPI_Errhandler_free(&of_world);
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

/// Gives their handlers back to the communicators whose are hidden.
void show_programs(HiddenHandlers& hidden) noexcept {
  for (std::size_t raised = 0; raised < raised_count; ++raised) {
    if (hidden.of[raised].programs == MPI_ERRHANDLER_NULL) continue;
    PMPI_Comm_set_errhandler(communicator_of(raised), hidden.of[raised].programs);
    PMPI_Errhandler_free(&hidden.of[raised].programs);
  }
}

/// Returns false if the program's handlers cannot be told, and stay.
bool hide_programs(HiddenHandlers& hidden) noexcept {
  for (std::size_t raised = 0; raised < raised_count; ++raised) {
    if (raised == on_self && !hidden.self_is_programs && !hidden.self_is_worlds) continue;
    if (PMPI_Comm_get_errhandler(communicator_of(raised), &hidden.of[raised].programs) != MPI_SUCCESS) {
      hidden.of[raised].programs = MPI_ERRHANDLER_NULL;
      show_programs(hidden);
      return false;
    }
    call_programs(hidden, raised);
    PMPI_Comm_set_errhandler(communicator_of(raised), hidden.of[raised].ours);
  }
  return true;
}

/// Has our handler set again where the program has just set its own, which is noted, while errors are kept
/// quiet.
void hide_again(HiddenHandlers& hidden, std::size_t raised) noexcept {
  PMPI_Comm_get_errhandler(communicator_of(raised), &hidden.of[raised].programs);
  call_programs(hidden, raised);
  PMPI_Comm_set_errhandler(communicator_of(raised), hidden.of[raised].ours);
}

}  // namespace

void QuietErrors::begin() noexcept {
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  if (hidden.quiet == 0 && !(has_ours(hidden) && hide_programs(hidden))) return;
  ++hidden.quiet;
  ++quiet_here;
  is_begun_ = true;
}

void QuietErrors::end() noexcept {
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  --quiet_here;
  if (--hidden.quiet == 0) show_programs(hidden);
}

unsigned QuietErrors::suspend() noexcept {
  return std::exchange(quiet_here, 0);
}

void QuietErrors::restore(unsigned suspended) noexcept {
  quiet_here = suspended;
}

int set_error_handler(MPI_Comm communicator, MPI_Errhandler handler, int (*set)(MPI_Comm, MPI_Errhandler)) {
  if (!library_raises_on_none) return set(communicator, handler);
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  const int code = set(communicator, handler);
  if (code != MPI_SUCCESS) return code;
  if (communicator == MPI_COMM_SELF) {
    hidden.self_is_programs = true;
    hidden.self_hears = handler != MPI_ERRORS_RETURN && handler != MPI_ERRORS_ARE_FATAL;
  }
  if (communicator == MPI_COMM_WORLD && hidden.self_is_worlds && !hidden.self_is_programs) {
    if (MPI_Errhandler& of_self = hidden.of[on_self].programs; of_self != MPI_ERRHANDLER_NULL)
      PMPI_Errhandler_free(&of_self);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    if (hidden.quiet != 0) hide_again(hidden, on_self);
  }
  if (hidden.quiet == 0) {
    look_at_handlers(hidden);
    return code;
  }
  for (std::size_t raised = 0; raised < raised_count; ++raised) {
    if (communicator != communicator_of(raised)) continue;
    MPI_Errhandler& programs = hidden.of[raised].programs;
    if (programs != MPI_ERRHANDLER_NULL) PMPI_Errhandler_free(&programs);
    hide_again(hidden, raised);
  }
  return code;
}

int make_error_handler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler,
                       int (*make)(MPI_Comm_errhandler_function*, MPI_Errhandler*)) noexcept {
  const int code = make(function, handler);
  if (!library_raises_on_none || code != MPI_SUCCESS) return code;
  // without memory our handler sets this one, and calls it by the library
  static_cast<void>(transports::guarded([&]() -> Status {
    const std::lock_guard lock(hidden_handlers().mutex);
    functions()[*handler] = function;
    return {};
  }));
  return code;
}

int get_error_handler(MPI_Comm communicator, MPI_Errhandler* handler, int (*get)(MPI_Comm, MPI_Errhandler*)) {
  if (!library_raises_on_none) return get(communicator, handler);
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);  // MPICH 4.0 counts a handler's holders without a lock
  const int code = get(communicator, handler);
  if (communicator == MPI_COMM_SELF && code == MPI_SUCCESS && hidden.self_is_worlds &&
      !hidden.self_is_programs) {
    PMPI_Errhandler_free(handler);
    *handler = MPI_ERRORS_ARE_FATAL;  // as before this library set one
    return code;
  }
  for (std::size_t raised = 0; code == MPI_SUCCESS && raised < raised_count; ++raised) {
    if (*handler != hidden.of[raised].ours || *handler == MPI_ERRHANDLER_NULL) continue;
    PMPI_Errhandler_free(handler);
    // the library gives a share of the one that is set
    const OursAgain ours_again(communicator, raised);
    give_programs(hidden, raised, communicator);
    return get(communicator, handler);
  }
  return code;
}

MPI_Errhandler exchange_error_handler(MPI_Comm communicator, MPI_Errhandler handler) noexcept {
  HiddenHandlers& hidden = hidden_handlers();
  const std::lock_guard lock(hidden.mutex);
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  if (communicator != MPI_COMM_SELF) {
    if (get_error_handler(communicator, &before, PMPI_Comm_get_errhandler) != MPI_SUCCESS)
      return MPI_ERRHANDLER_NULL;
    set_error_handler(communicator, handler, PMPI_Comm_set_errhandler);
    return before;
  }
  if (hidden.of[on_self].programs != MPI_ERRHANDLER_NULL) {
    before = hidden.of[on_self].programs;
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    hide_again(hidden, on_self);
    return before;
  }
  if (follows_world(hidden)) {
    give_programs(hidden, on_world, MPI_COMM_SELF);
    hidden.self_is_worlds = true;
  }
  if (PMPI_Comm_get_errhandler(MPI_COMM_SELF, &before) != MPI_SUCCESS) return MPI_ERRHANDLER_NULL;
  PMPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  return before;
}

void note_error_handlers() noexcept {
  if constexpr (library_raises_on_none) {
    HiddenHandlers& hidden = hidden_handlers();
    const std::lock_guard lock(hidden.mutex);
    if (hidden.quiet == 0) look_at_handlers(hidden);
  }
}

}  // namespace penstock::interpose
