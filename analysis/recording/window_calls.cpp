#include "analysis/recording/window_calls.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace penstock::analysis {
namespace {

using Entry = std::pair<std::string_view, WindowAct>;

WindowAct look_up(std::span<const Entry> table, std::string_view mpi_function) noexcept {
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Entry& each) { return each.first == mpi_function; });
  return found == table.end() ? WindowAct::none : found->second;
}

}  // namespace

WindowAct awaited_by(std::string_view mpi_function) noexcept {
  constexpr std::array<Entry, 4> waiting{{{"MPI_Win_start", WindowAct::opens},
                                          {"MPI_Win_wait", WindowAct::completes},
                                          {"MPI_Win_lock", WindowAct::unlocks},
                                          {"MPI_Win_lock_all", WindowAct::unlocks}}};
  return look_up(waiting, mpi_function);
}

WindowAct act_of(std::string_view mpi_function) noexcept {
  constexpr std::array<Entry, 4> acting{{{"MPI_Win_post", WindowAct::opens},
                                         {"MPI_Win_complete", WindowAct::completes},
                                         {"MPI_Win_unlock", WindowAct::unlocks},
                                         {"MPI_Win_unlock_all", WindowAct::unlocks}}};
  return look_up(acting, mpi_function);
}

}  // namespace penstock::analysis
