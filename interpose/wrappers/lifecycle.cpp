// MPI_Init to MPI_Finalize: the order in which the parts of the interposer start and stop.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <span>

#include "interpose/binding/fortran_bindings.hpp"
#include "interpose/binding/mpi_binding.hpp"
#include "interpose/binding/mpi_details.hpp"
#include "interpose/binding/required_functions.hpp"
#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/calls/finalize_hook.hpp"
#include "interpose/calls/unseen_mpi.hpp"
#include "interpose/messages/staging_buffers.hpp"
#include "interpose/network/chunk_channel.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/node/tuning.hpp"
#include "interpose/posted/message_order.hpp"
#include "interpose/posted/shown_receive.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/progress_thread.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/protocol/lingering_sends.hpp"
#include "interpose/protocol/matched_messages.hpp"
#include "interpose/protocol/rendezvous_receive.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/cuda/driver.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/machine.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/ready_flags.hpp"

namespace penstock::interpose {
namespace {

/// Returns true if the MPI library can be served. If not, the interposer never wakes up: all calls are passed
/// on unchanged, and nothing is recorded.
bool is_served() {
  const char* const missing = missing_function();
  if (missing == nullptr) return true;
  Line line;
  std::snprintf(line.data(), line.size(),
                "this MPI library lacks %s, which Penstock needs: Penstock passes all calls on unchanged and "
                "records nothing",
                missing);
  record::notice(line.data());
  return false;
}

/// Called before PMPI_Init, so that every rank that takes part has joined when the first returns from it.
void prepare() {
  read_settings();
  if (!settings().move) return;
  if (redirect_fortran_calls() == FortranCalls::unseen && !settings().despite_fortran) {
    // a receive through them would get an envelope instead of its payload
    record::notice(
        "MPI's Fortran bindings are loaded, which call MPI in a way that Penstock does not intercept: device "
        "messages are staged (PENSTOCK_DESPITE_FORTRAN=1 if the program does not use them)");
    return;
  }
  if (const char* const unwrapped = unwrapped_receiver(); unwrapped != nullptr) {
    Line line;
    std::snprintf(line.data(), line.size(),
                  "this MPI library has %s, by which messages can be received that Penstock does not "
                  "intercept: device messages are staged",
                  unwrapped);
    record::notice(line.data());
    return;
  }
  // what was posted on the session's communicators would get an envelope instead of its payload
  if (!has_session_before_init()) node_directory().join();
}

void begin_recording(int rank, int size) {
  if (!settings().record) return;
  const int recorded_ranks = settings().ranks.count_of(size);
  if (recorded_ranks == 0 && rank == 0) {
    Line line;
    std::snprintf(line.data(), line.size(),
                  "nothing is recorded: PENSTOCK_RANKS has none of this job's %d rank%s", size,
                  size == 1 ? "" : "s");
    record::notice(line.data());
  }
  if (!settings().ranks.holds(rank)) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  PMPI_Get_library_version(version, &length);
  record::Identity identity;
  identity.world_rank = rank;
  identity.world_size = size;
  identity.job_id_low = node_directory().nonce().low;
  identity.job_id_high = node_directory().nonce().high;
  identity.mpi_family = static_cast<std::uint32_t>(mpi_family);
  identity.mpi_version = version;
  identity.directory = settings().output;
  identity.limit_bytes = settings().trace_limit_bytes;
  identity.keeps_last = settings().keeps_last;
  identity.window = settings().window;
  identity.recorded_ranks = recorded_ranks;
  identity.is_first_to_record = rank == settings().ranks.first();
  identity.call_path_frames = settings().call_path_frames;
  identity.with_gpu_activity = settings().gpu_activity;
  record::begin(identity);
  static constexpr transports::cuda::CallMarks own_work{record::begin_own_work, record::end_own_work};
  transports::cuda::mark_calls(own_work);
}

/// The MPI library's thread level as reported to the application; it may have been raised for a progress
/// thread.
int reported_level = MPI_THREAD_MULTIPLE;

/// The current call of MPI_Finalize.
struct FinalizeCall {
  const void* caller = nullptr;
  std::exception_ptr* thrown = nullptr;  ///< by an error handler of the program
} finalize_call;

bool is_called_in_finalize = false;
void leave_job() noexcept;

void start_up(int provided) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  node_directory().publish(rank, size);
  request_table().set_threaded(provided == MPI_THREAD_MULTIPLE);
  transports::share_memory_among(node_directory().rows_taken());
  transports::set_callers_take_turns(provided != MPI_THREAD_MULTIPLE);
  const std::span<std::byte> flags = node_directory().flag_memory();
  if (!flags.empty()) transports::set_flag_memory(flags.data(), flags.size());
  transports::force_transport(settings().transport);
  transports::set_stream_order(settings().stream_order);
  begin_tuning();
  transports::set_single_threaded(provided == MPI_THREAD_SINGLE);
  open_matched_messages();
  request_table().open_sentinel();
  channel().open(rank, size);
  expect_envelopes_if(channel().is_open() || transports::cuda_in_use());
  // before the communicators, which it then records
  begin_recording(rank, size);
  open_communicators();
  begin_counting_messages();
  // after the communicators' attributes, before any of the program's
  is_called_in_finalize = call_last_in_finalize(leave_job);
  if (transports::cuda_in_use()) record::gpu_seen();
  if (settings().move) transports::prepare_kernels();
  finish_at_end_of_calls(&RendezvousReceive::small_ones_in_flight(), finish_small_pulls);
  wake_up();
}

/// Returns the level that MPI_Init stands for, unless the user has configured the MPI library otherwise.
int level_of_plain_init() noexcept {
  for (const char* setting : {"MPIR_CVAR_DEFAULT_THREAD_LEVEL", "OMPI_MPI_THREAD_LEVEL"}) {
    if (std::getenv(setting) != nullptr) return MPI_THREAD_MULTIPLE;
  }
  return MPI_THREAD_SINGLE;
}

bool wants_progress_thread() noexcept {
  return settings().move && settings().progress == ProgressBy::thread;
}

/// `level`: what the application requests, and then what is reported to it, as if there were no such thread.
/// The MPI library gets MPI_THREAD_MULTIPLE, since not all MPI calls pass through here (some libraries'):
/// they may run at the same time as the thread.
int initialise_with_progress_thread(int* argc, char*** argv, int* level) {
  int given = MPI_THREAD_SINGLE;
  const int code = PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &given);
  if (code != MPI_SUCCESS) {
    node_directory().leave();
    return code;
  }
  reported_level = *level = std::min(*level, given);
  start_up(reported_level);
  if (given == MPI_THREAD_MULTIPLE) {
    start_progress_thread();
  } else {
    record::notice("no progress thread: this MPI library does not provide MPI_THREAD_MULTIPLE");
  }
  return code;
}

/// Ends this rank's part. No collective call within the node, as the others do not know whether a rank took
/// part in Penstock's work. A rank whose payloads may still be fetched waits until they are, or until their
/// receivers leave too. With ranks on other nodes all arrive here first, since no receiver comes later.
void drain_before_finalize() try {
  for (Backoff backoff; !channel().all_have_parted(); backoff.pause()) progress();
  request_table().drain(policy::finalize_drain_ns);
  node_directory().announce_parting();
  for (Backoff backoff; node_directory().is_awaited(); backoff.pause()) progress();
  withdraw_all_receives();
  abandon_lingering_sends();
} catch (const std::bad_alloc&) {
  // without memory nothing can be waited for
}

void shut_down() noexcept {
  fall_asleep();
  stop_counting_messages();
  if (transports::cuda_in_use()) record::gpu_seen();
  record::end();
  close_communicators();
  close_matched_messages();
  channel().close();
  request_table().close_sentinel();
  transports::shut_down();
  drop_staging_buffers();
  node_directory().leave();
}

/// The last step while MPI works, inside the MPI library's own MPI_Finalize if possible: no exception may
/// pass through that.
void leave_job() noexcept {
  if (!is_awake()) return;
  stop_progress_thread();  // if MPI_Finalize was not called through this library
  try {
    CallScope scope(Function::Finalize, finalize_call.caller);
    drain_before_finalize();
  } catch (...) {
    if (finalize_call.thrown != nullptr) *finalize_call.thrown = std::current_exception();
  }
  shut_down();
}

/// The same if MPI works no more, as an earlier callback of the program has failed.
void leave_job_without_mpi() noexcept {
  fall_asleep();
  stop_counting_messages();
  withdraw_all_receives();
  record::end();
  node_directory().announce_parting();
  transports::shut_down();
  drop_staging_buffers();
  node_directory().leave();
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Init(int* argc, char*** argv) try {
  CallScope scope(Function::Init, __builtin_return_address(0));
  if (!is_served()) return PMPI_Init(argc, argv);
  prepare();
  int provided = level_of_plain_init();
  if (wants_progress_thread()) return initialise_with_progress_thread(argc, argv, &provided);
  const int code = PMPI_Init(argc, argv);
  if (code != MPI_SUCCESS) {
    node_directory().leave();
    return code;
  }
  PMPI_Query_thread(&provided);
  start_up(provided);
  return code;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_WORLD)

PENSTOCK_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) try {
  CallScope scope(Function::Init_thread, __builtin_return_address(0));
  if (!is_served()) return PMPI_Init_thread(argc, argv, required, provided);
  prepare();
  if (wants_progress_thread()) {
    *provided = required;
    return initialise_with_progress_thread(argc, argv, provided);
  }
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) {
    start_up(*provided);
  } else {
    node_directory().leave();
  }
  return code;
}
PENSTOCK_OUT_OF_MEMORY(MPI_COMM_WORLD)

PENSTOCK_EXPORT int MPI_Query_thread(int* provided) {
  CallScope scope(Function::Query_thread, __builtin_return_address(0));
  const int code = PMPI_Query_thread(provided);
  if (code == MPI_SUCCESS) *provided = std::min(*provided, reported_level);
  return code;
}

// Callbacks of the program's attributes make calls of their own in here, so no CallScope exists meanwhile.
PENSTOCK_EXPORT int MPI_Finalize() {
  if (!is_awake()) {
    const CallScope scope(Function::Finalize, __builtin_return_address(0));
    return PMPI_Finalize();
  }
  stop_progress_thread();
  std::exception_ptr thrown;
  finalize_call = {__builtin_return_address(0), &thrown};
  if (!is_called_in_finalize) leave_job();
  const int code = PMPI_Finalize();
  if (is_awake()) leave_job_without_mpi();
  finalize_call = {};
  if (thrown != nullptr) std::rethrow_exception(thrown);
  return code;
}

PENSTOCK_EXPORT int MPI_Abort(MPI_Comm communicator, int error_code) {
  CallScope scope(Function::Abort, __builtin_return_address(0));
  if (is_awake()) penstock::record::end_abruptly(error_code);
  return PMPI_Abort(communicator, error_code);
}
