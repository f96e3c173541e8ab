#include "analysis/recording/window_calls.hpp"

#include <algorithm>
#include <array>

namespace penstock::analysis {

bool waits_at_window(std::string_view mpi_function) noexcept {
  constexpr std::array<std::string_view, 4> waiting{"MPI_Win_start", "MPI_Win_wait", "MPI_Win_lock",
                                                    "MPI_Win_lock_all"};
  return std::find(waiting.begin(), waiting.end(), mpi_function) != waiting.end();
}

}  // namespace penstock::analysis
