// The part of a report about where the time goes: every counted nanosecond has one part, and the parts add
// up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/causes/cause.hpp"

namespace penstock::analysis {

/// In order of precedence, except that MPI's files are told apart from the unattributed time that they would
/// be: a moment belongs to the first part that it can belong to. The causes stand in the order of Cause.
enum class TimePart : std::uint8_t {
  kernels,      ///< K; of a program without a GPU, nothing
  late_sender,  ///< from here to `unattributed`: exposed communication, by cause
  late_receiver,
  collective_wait,
  window_wait,
  wire,
  staging,
  gpu_not_ready,
  missing_progress,
  unattributed,
  mpi_files,             ///< the host is in a call of MPI_File_…, without a known cause
  nccl,                  ///< a kernel of NCCL runs
  staging_by_hand,       ///< a copy by hand around a message of host memory
  other_copies,          ///< another copy or memset of the application
  kernel_launch,         ///< a kernel has been launched and has not begun
  cuda_synchronisation,  ///< the host waits for the GPU, which does none of the above
  host_code,             ///< all else
};
inline constexpr std::size_t part_count = 17;
using TimeByPart = std::array<std::uint64_t, part_count>;  ///< ns, indexed by TimePart

[[nodiscard]] constexpr TimePart part_of(Cause cause) noexcept {
  return static_cast<TimePart>(static_cast<std::size_t>(TimePart::late_sender) +
                               static_cast<std::size_t>(cause));
}
/// Returns nullopt for a part that is not communication with a cause.
[[nodiscard]] constexpr std::optional<Cause> cause_of(TimePart part) noexcept {
  return part < TimePart::late_sender || part > TimePart::unattributed
             ? std::nullopt
             : std::optional(static_cast<Cause>(static_cast<std::size_t>(part) -
                                                static_cast<std::size_t>(TimePart::late_sender)));
}
static_assert(part_of(Cause::unattributed) == TimePart::unattributed &&
              part_of(Cause::staging) == TimePart::staging);

[[nodiscard]] constexpr std::uint64_t time_of(const TimeByPart& times, TimePart part) noexcept {
  return times[static_cast<std::size_t>(part)];
}
/// Returns the exposed communication among the parts, that in files left out.
[[nodiscard]] std::uint64_t exposed_in(const TimeByPart& times) noexcept;

/// Return the name for people ("staging by hand") and for machines ("staging_by_hand"), and what it means in
/// a few words; those of a cause are the cause's. parts.def has the others.
[[nodiscard]] std::string_view name_of(TimePart part) noexcept;
[[nodiscard]] std::string_view identifier_of(TimePart part) noexcept;
[[nodiscard]] std::string_view meaning_of(TimePart part) noexcept;

/// A place where time of one part is spent, with no call of MPI. Sums over the counted ranks.
struct PlaceFigures {
  std::string range;   ///< the innermost NVTX range there; empty: none but the step's
  std::string behind;  ///< else: the MPI call before it, for people; empty: none
  std::string before;  ///< and the one after it
  std::uint64_t times = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t most_ns = 0;  ///< of the rank that has most
  std::int32_t most_rank = -1;
};

/// Returns "in the NVTX range assemble", or "between MPI_Waitall at … and MPI_Isend at …".
[[nodiscard]] std::string where_text(const PlaceFigures& place);

}  // namespace penstock::analysis
