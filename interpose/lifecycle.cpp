// MPI_Init to MPI_Finalize: the order in which the parts of the interposer come up and go down.
#include "interpose/call_scope.hpp"
#include "interpose/communicators.hpp"
#include "interpose/delivery.hpp"
#include "interpose/device_send.hpp"
#include "interpose/engine.hpp"
#include "interpose/landing_zones.hpp"
#include "interpose/matched_messages.hpp"
#include "interpose/mpi_details.hpp"
#include "interpose/node_directory.hpp"
#include "interpose/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/settings.hpp"
#include "transports/machine.hpp"
#include "transports/readiness.hpp"

namespace penstock::interpose {
namespace {

#ifdef OPEN_MPI
constexpr std::uint32_t family = 2;
#else
constexpr std::uint32_t family = 1;
#endif

/// How long a rank goes on in MPI_Finalize with what other ranks have begun and do not end.
constexpr std::uint64_t farewell_ns = 5'000'000'000;

/// Before PMPI_Init, so that every rank that takes part has joined when the first comes out of it.
void prepare() {
  read_settings();
  if (settings().move) node_directory().join();
}

void begin_recording(int rank, int size) {
  if (!settings().record) return;
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  PMPI_Get_library_version(version, &length);
  record::Identity identity;
  identity.world_rank = rank;
  identity.world_size = size;
  identity.job_id_low = node_directory().nonce().low;
  identity.job_id_high = node_directory().nonce().high;
  identity.mpi_family = family;
  identity.mpi_version = version;
  identity.directory = settings().output;
  identity.limit_bytes = settings().trace_limit_bytes;
  identity.with_gpu_activity = settings().gpu_activity;
  record::begin(identity);
}

void rise(int provided) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  node_directory().publish(rank);
  engine().set_threaded(provided == MPI_THREAD_MULTIPLE);
  const bool all_striped = settings().road == transports::Road::striped;
  transports::force_road(settings().road);
  transports::set_striped_from(all_striped ? 0 : settings().striped_bytes);
  transports::set_stream_order(settings().stream_order);
  transports::set_single_threaded(provided == MPI_THREAD_SINGLE);
  open_matched_messages();
  engine().open_sentinel();
  // before the communicators, which it then records
  begin_recording(rank, size);
  open_communicators();
  if (transports::cuda_in_use()) record::gpu_seen();
  finish_at_end_of_calls(&Delivery::small_ones_in_flight(), finish_small_pulls);
  wake_up();
}

/// No collective call: whether a rank had any part in Penstock's work is not known to the others. A rank
/// whose payloads may still be fetched waits until they are, or their receivers part too.
void part() {
  engine().drain(farewell_ns);
  node_directory().announce_parting();
  for (Backoff backoff; node_directory().is_awaited(); backoff.pause()) progress();
  abandon_lingering_sends();
}

void descend() {
  fall_asleep();
  if (transports::cuda_in_use()) record::gpu_seen();
  record::end();
  close_communicators();
  close_matched_messages();
  engine().close_sentinel();
  transports::shut_down();
  drop_landing_zones();
  node_directory().leave();
}

}  // namespace
}  // namespace penstock::interpose

using namespace penstock::interpose;

PENSTOCK_EXPORT int MPI_Init(int* argc, char*** argv) {
  CallScope scope(Function::Init, __builtin_return_address(0));
  prepare();
  const int code = PMPI_Init(argc, argv);
  if (code != MPI_SUCCESS) return code;
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  rise(provided);
  return code;
}

PENSTOCK_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  CallScope scope(Function::Init_thread, __builtin_return_address(0));
  prepare();
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) rise(*provided);
  return code;
}

PENSTOCK_EXPORT int MPI_Finalize() {
  {
    CallScope scope(Function::Finalize, __builtin_return_address(0));
    if (is_awake()) part();
  }
  if (is_awake()) descend();
  return PMPI_Finalize();
}

PENSTOCK_EXPORT int MPI_Abort(MPI_Comm communicator, int error_code) {
  CallScope scope(Function::Abort, __builtin_return_address(0));
  if (is_awake()) penstock::record::end();
  return PMPI_Abort(communicator, error_code);
}
