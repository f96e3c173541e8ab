#include "interpose/calls/unseen_mpi.hpp"

#include <atomic>
#include <cstdlib>

#include "interpose/binding/mpi_binding.hpp"
#include "interpose/node/launcher.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

std::atomic<bool> has_seen_init{false};
std::atomic<bool> has_seen_other_use{false};
std::atomic<bool> has_told_of_session{false};
std::atomic<int> open_sessions{0};

/// Returns true for functions that no program calls before MPI is initialised: those that take a
/// communicator, and the start of a session. A few are enough, since every program calls one of them.
constexpr bool needs_initialised_mpi(Function function) noexcept {
#if PENSTOCK_HAS_MPI_4
  if (function == Function::Session_init) return true;
#endif
  return function == Function::Comm_rank || function == Function::Comm_size || waits(function);
}

/// Queries the MPI library itself, which is allowed at any time.
bool was_initialised_unseen() noexcept {
  int is_initialised = 0;
  return bind_mpi_quietly() && PMPI_Initialized(&is_initialised) == MPI_SUCCESS && is_initialised != 0;
}

/// Returns true if the user expects something of Penstock: in a launcher's rank, or under `penstock run`
/// without one.
bool is_meant() noexcept {
  return is_started_as_rank() || std::getenv("PENSTOCK_RECORD") != nullptr;
}

/// Runs in every process that loads the library, so the cheap checks come first.
__attribute__((destructor)) void say_at_exit() noexcept {
  if (has_seen_init.load(std::memory_order_relaxed) || has_told_of_session.load(std::memory_order_relaxed) ||
      !is_meant()) {
    return;
  }
  if (!has_seen_other_use.load(std::memory_order_relaxed) && !was_initialised_unseen()) return;
  record::notice(
      "MPI was used, but Penstock saw no MPI_Init (MPI sessions, or functions looked up in the MPI library "
      "itself): no GPU buffers were moved, and nothing was recorded");
}

}  // namespace

void note_call_while_asleep(Function function) noexcept {
#if PENSTOCK_HAS_MPI_4
  if (function == Function::Session_init) ++open_sessions;
  if (function == Function::Session_finalize) --open_sessions;
  // said at once: a device buffer that the MPI library gets may end the job
  if (function == Function::Session_init && is_meant() &&
      !has_told_of_session.exchange(true, std::memory_order_relaxed)) {
    record::notice(
        "MPI_Session_init before MPI_Init: until MPI_Init no GPU buffers are moved, and nothing is recorded; "
        "behind it device messages are staged");
  }
#endif
  if (function == Function::Init || function == Function::Init_thread) {
    has_seen_init.store(true, std::memory_order_relaxed);
  } else if (needs_initialised_mpi(function)) {
    has_seen_other_use.store(true, std::memory_order_relaxed);
  }
}

bool has_session_before_init() noexcept {
  return open_sessions.load(std::memory_order_relaxed) > 0;
}

}  // namespace penstock::interpose
