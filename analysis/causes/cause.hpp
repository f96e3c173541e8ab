// The causes of waiting, and the reasons why none is known: their order and names. causes.def has the words,
// causes.hpp says how they are told apart.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock::analysis {

enum class Cause : std::uint8_t {
  late_sender,
  late_receiver,
  collective_wait,
  window_wait,
  wire,
  staging,
  gpu_not_ready,
  missing_progress,
  unattributed,
};
inline constexpr std::size_t cause_count = 9;
using TimeByCause = std::array<std::uint64_t, cause_count>;  ///< ns, indexed by Cause

/// Return the name for people ("late sender") and for machines ("late_sender").
[[nodiscard]] std::string_view name_of(Cause cause) noexcept;
[[nodiscard]] std::string_view identifier_of(Cause cause) noexcept;
/// Returns what a cause means for the rank that waits, in a few words.
[[nodiscard]] std::string_view meaning_of(Cause cause) noexcept;
/// Returns the cause of most of these times.
[[nodiscard]] Cause main_cause(const TimeByCause& times) noexcept;

/// The reason why a span is unattributed.
enum class Gap : std::uint8_t {
  none,              ///< the span is attributed
  no_partner,        ///< the other side's half, or some rank's arrival, was not recorded
  no_common_clock,   ///< the other side is on a host whose clock is not aligned
  nothing_recorded,  ///< the call has no recorded message or collective
};
inline constexpr std::size_t gap_count = 4;

/// Return the name for people and for machines.
[[nodiscard]] std::string_view name_of(Gap gap) noexcept;
[[nodiscard]] std::string_view identifier_of(Gap gap) noexcept;

/// Returns true if waiting in this function is for a file where no cause is known.
[[nodiscard]] inline bool is_file_call(std::string_view mpi_function) noexcept {
  return mpi_function.starts_with("MPI_File_");
}

}  // namespace penstock::analysis
