// The one door through which the interposer writes a recording: begin and end a recording, note calls,
// message halves, transfers. Must not know MPI types (ranks and communicators come as plain numbers) nor read
// a recording back. Nothing here allocates, locks or makes a system call on the hot path, throws, or fails
// visibly: what cannot be written is counted as dropped.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// Who records, and where to. Strings are copied.
struct Identity {
  int world_rank = 0;
  int world_size = 1;
  std::uint64_t job_id_low = 0;
  std::uint64_t job_id_high = 0;
  std::uint32_t mpi_family = 0;  ///< 1 MPICH, 2 Open MPI
  std::string_view mpi_version;
  std::string_view directory;  ///< made if absent; a failure is said on one line, recording stays off
  std::uint64_t limit_bytes = 1u << 30;  ///< of the rank's file; what comes after is dropped and counted
  bool with_gpu_activity = true;         ///< try CUPTI and NVTX
};

namespace detail {
inline constinit std::atomic<bool> is_on{false};
}

/// True while records are taken. One relaxed load: wrappers test it first.
/// Thread: any.
[[nodiscard]] inline bool is_on() noexcept {
  return detail::is_on.load(std::memory_order_relaxed);
}

/// Opens the recording, starts the collectors. Returns false (one line was said) when it stays off. A process
/// has one recording: a second call changes nothing.
/// Thread: the one in MPI_Init.
bool begin(const Identity& identity) noexcept;

/// Flushes the collectors, writes modules and the header's closing fields.
/// Thread: the one in MPI_Finalize. A second call does nothing.
void end() noexcept;

/// The same for MPI_Abort: notes the end, and waits for nothing and asks no driver, since those may be what
/// hangs. What the collectors had not written yet is missing, as after SIGKILL.
void end_abruptly() noexcept;

/// Now, CLOCK_MONOTONIC. Unit: ns.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// Id of a string in the recording, the same for equal strings. For names known beforehand, call once and
/// keep. Returns trace::no_string when off or full.
std::uint32_t intern(std::string_view text) noexcept;

/// The interposer calls it when it first sees CUDA in use; the GPU collector starts then at the latest.
/// Before begin() it is remembered. Any later call costs one load. Thread: any.
void gpu_seen() noexcept;

/// Writes a copy of `record` (any record type of trace_format.hpp with its `kind` set) to the caller's lane.
/// Thread: any.
template <typename Record>
void write(const Record& record) noexcept;

/// The same by address; 64 bytes, `kind` in the last.
void write_bytes(const void* record) noexcept;

template <typename Record>
void write(const Record& record) noexcept {
  static_assert(sizeof(Record) == trace::record_bytes);
  write_bytes(&record);
}

/// Says one line on stderr ("penstock: …", once for each text) and keeps it in the recording for the report.
/// Works with recording off, before begin() too (then it is kept for it). Thread: any.
void notice(std::string_view text) noexcept;

/// While one lives, CUDA work that the calling thread issues is marked as Penstock's own, by correlation id.
/// Nests. Costs a few ns when GPU activity is not collected.
class OwnWork {
 public:
  OwnWork() noexcept;
  ~OwnWork();
  OwnWork(const OwnWork&) = delete;
  OwnWork& operator=(const OwnWork&) = delete;
};

}  // namespace penstock::record
