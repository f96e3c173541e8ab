// The only interface through which the interposer writes a recording: begins and ends it, and writes calls,
// message halves, transfers. Knows no MPI types (ranks and communicators are plain numbers) and never reads a
// recording. On the hot path nothing here allocates, locks or makes a system call. Nothing throws or fails
// visibly: records that cannot be written are counted as dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/record/trace_format.hpp"
#include "interpose/record/window_request.hpp"

namespace penstock::record {

/// The most frames of a call path.
inline constexpr std::uint32_t most_call_path_frames = 12;

/// Describes the rank that records, and where to. Strings are copied.
struct Identity {
  int world_rank = 0;
  int world_size = 1;
  std::uint64_t job_id_low = 0;
  std::uint64_t job_id_high = 0;
  std::uint32_t mpi_family = 0;  ///< 1 MPICH, 2 Open MPI, 3 the standard ABI
  std::string_view mpi_version;
  std::string_view directory;  ///< made if absent; if that fails, one line is printed and recording stays off
  std::uint64_t limit_bytes = 1u << 30;  ///< of the rank's file; later records are dropped and counted, …
  bool keeps_last = false;               ///< … or the oldest are overwritten
  WindowRequest window;                  ///< the part of the run that is recorded
  int recorded_ranks = 0;                ///< of the job's; 0: all
  bool is_first_to_record = true;        ///< of the job's ranks: what is alike on all is told by it alone
  bool with_gpu_activity = true;         ///< try CUPTI and NVTX
  std::uint32_t call_path_frames =
      most_call_path_frames;  ///< at most, of each call; 0 or 1: the call site alone

  [[nodiscard]] bool recorded_by_all() const noexcept {
    return recorded_ranks == 0 || recorded_ranks >= world_size;
  }
};

namespace detail {
inline constinit std::atomic<bool> is_on{false};
inline constinit std::atomic<bool> takes_records{false};  ///< as is_on, but not behind the window
}  // namespace detail

/// Returns true while records are accepted. Cost: one relaxed load; wrappers test it first.
/// Thread: any.
[[nodiscard]] inline bool is_on() noexcept {
  return detail::is_on.load(std::memory_order_relaxed);
}

/// Opens the recording and starts the collectors. If it stays off, prints one line and returns false. A
/// process has one recording: a second call changes nothing.
/// Thread: the one in MPI_Init.
bool begin(const Identity& identity) noexcept;

/// Flushes the collectors, writes modules and the header's closing fields.
/// Thread: the one in MPI_Finalize. A second call does nothing.
void end() noexcept;

/// Ends the recording in MPI_Abort: writes the end, waits for nothing and queries no driver, since those may
/// hang. What the collectors have not written yet is missing, as after SIGKILL.
void end_abruptly(int abort_code) noexcept;

/// Returns the time of CLOCK_MONOTONIC. Unit: ns.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// Returns the id of a string in the recording, the same for equal strings. Callers keep the ids of names
/// that they know beforehand. Returns trace::no_string if recording is off or full.
std::uint32_t intern(std::string_view text) noexcept;

/// Returns where the calling thread keeps the record of the MPI call that it is in. It lies in the recording,
/// so that a reader finds it even if the call never ends; if all slots are taken, in the thread's own memory.
/// The caller sets `call.kind` when the call begins, after the other fields, and clears it when it has ended.
/// Recording must be on. Thread: the calling one only. Cost: one load.
[[nodiscard]] trace::OpenCall& open_call() noexcept;

/// Returns the call site of a function of MPI that was called from `return_address` and is still running on
/// the calling thread: the number of its call path in the recording, or the address itself where the path is
/// not known (MpiCall::call_site). Cost: some 20 ns for a path that this thread met before, some µs for a new
/// one, and for each where the thread runs Python. Thread: any.
[[nodiscard]] std::uint64_t call_site_of(const void* return_address) noexcept;

/// Called by the interposer when it first sees CUDA in use; the GPU collector starts then at the latest. A
/// call before begin() is remembered. Cost of any later call: one load. Thread: any.
void gpu_seen() noexcept;

/// Writes a copy of `record` (any record type of trace_format.hpp with its `kind` set) to the caller's lane.
/// Thread: any.
template <typename Record>
void write(const Record& record) noexcept;

/// The same by address: 64 bytes, the last is `kind`.
void write_bytes(const void* record) noexcept;

/// Writes a copy that stays, whatever part of the run is recorded: for rare records that others refer to.
void write_to_stay(const trace::Communicator& communicator) noexcept;

template <typename Record>
void write(const Record& record) noexcept {
  static_assert(sizeof(Record) == trace::record_bytes);
  write_bytes(&record);
}

/// Prints one line to stderr ("penstock: …", once for each text) and records it for the report. Works with
/// recording off, and before begin(), which then records it. Thread: any.
void notice(std::string_view text) noexcept;

/// CUDA work that the calling thread issues in between is marked as Penstock's own, by correlation id. Pairs
/// may be nested. Cost: a few ns if GPU activity is not collected, else 0.3 us (H200, CUPTI 13.0), so it is
/// for the driver call itself and not for what may make one.
void begin_own_work() noexcept;
void end_own_work() noexcept;

}  // namespace penstock::record
