// All PENSTOCK_* variables in one table, read once at MPI_Init. Knows nothing of what the settings do.
#pragma once

#include <cstdint>
#include <string>

#include "interpose/node/rank_list.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/transport.hpp"

namespace penstock::interpose {

/// The code that steps transfers.
enum class ProgressBy : std::uint8_t {
  calls,   ///< MPI calls of the application
  thread,  ///< also a thread, while the application is in no call
};

/// When small puts and gets begin.
enum class HeldBack : std::uint8_t {
  never,     ///< at once
  forecast,  ///< together when they are completed, if they were completed at once the last time
  always     ///< together when they are completed
};

struct Settings {
  bool move = true;          ///< PENSTOCK_MOVE=0: device buffers are passed to the MPI library unchanged
  bool record = false;       ///< PENSTOCK_RECORD=1; `penstock run` sets it
  bool gpu_activity = true;  ///< PENSTOCK_GPU_ACTIVITY=0: no CUPTI, no NVTX
  std::string output = "penstock-out";           ///< PENSTOCK_OUTPUT, directory of the recording
  std::uint64_t trace_limit_bytes = 1ull << 30;  ///< PENSTOCK_TRACE_LIMIT, per rank
  bool keeps_last = false;  ///< PENSTOCK_TRACE_KEEP=last: beyond the limit the oldest records are overwritten
  record::WindowRequest window;  ///< PENSTOCK_WINDOW: the part of the run that is recorded
  RankList ranks;                ///< PENSTOCK_RANKS: the ranks that record
  /// PENSTOCK_CALL_PATHS: frames of each recorded call at most; 0 or 1: the call site alone
  std::uint32_t call_path_frames = record::most_call_path_frames;
  /// PENSTOCK_TRANSPORT=local|peer|relayed|pushed|staged|network
  transports::TransportKind transport = transports::TransportKind::none;
  std::string tuning;  ///< PENSTOCK_TUNING: the table of figures (transports::find_tuning)
  transports::StreamOrder stream_order = transports::StreamOrder::legacy_stream;  ///< PENSTOCK_STREAM_ORDER
  /// PENSTOCK_EVERYWHERE=1; `penstock run --everywhere`: all ranks of the job run Penstock, on whatever nodes
  bool everywhere = false;
  std::string node;  ///< PENSTOCK_NODE: ranks with another name count as being on another node; for tests
  ProgressBy progress = ProgressBy::calls;  ///< PENSTOCK_PROGRESS=calls|thread
  bool reduce_on_gpu = true;  ///< PENSTOCK_REDUCE_ON_GPU=0: reductions in the MPI library's own order
  /// PENSTOCK_DESPITE_FORTRAN=1: device messages use their transports although Fortran's bindings are loaded
  /// whose calls cannot be seen
  bool despite_fortran = false;
  bool own_windows =
      false;  ///< PENSTOCK_OWN_WINDOWS=1: windows of host memory are Penstock's, too; for tests
  bool posted_receives = false;             ///< PENSTOCK_POSTED_RECEIVES=1: senders write to posted receives
  HeldBack held_back = HeldBack::forecast;  ///< PENSTOCK_HELD_BACK=never|forecast|always; for tests
};

/// Thread: any, after read_settings() in MPI_Init.
[[nodiscard]] const Settings& settings() noexcept;
/// Reads all variables. Prints a line for each unknown PENSTOCK_* name, with the nearest known one, and for
/// each value that cannot be read; the default then holds.
void read_settings() noexcept;

}  // namespace penstock::interpose
