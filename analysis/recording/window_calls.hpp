// The calls that wait for some members of a window, and those that let such members go on. In windows of
// Penstock's own, the record of a call says for whom it has waited: it has the window as its communicator,
// and the member that was missing last as its peer, -1 if that is not known.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::analysis {

/// An act of a member for which others wait.
enum class WindowAct : std::uint8_t { none, opens, completes, unlocks };

/// Returns what another member has to do before a call can end: `opens` for "MPI_Win_start". Fences are
/// collectives.
[[nodiscard]] WindowAct awaited_by(std::string_view mpi_function) noexcept;
/// Returns what a call does that others may wait for: `opens` for "MPI_Win_post".
[[nodiscard]] WindowAct act_of(std::string_view mpi_function) noexcept;
/// Returns true for "MPI_Win_start" and its like.
[[nodiscard]] inline bool waits_at_window(std::string_view mpi_function) noexcept {
  return awaited_by(mpi_function) != WindowAct::none;
}

}  // namespace penstock::analysis
