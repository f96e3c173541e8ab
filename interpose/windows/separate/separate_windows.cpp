#include "interpose/windows/separate/separate_windows.hpp"

#include <cstdio>

#include "interpose/record/recorder.hpp"

namespace penstock::interpose {

WindowTable<SeparateWindow>& separate_windows() noexcept {
  static WindowTable<SeparateWindow>& all = *new WindowTable<SeparateWindow>;
  return all;
}

std::shared_ptr<SeparateWindow> prepare_public_copy(const char* mpi_call, MPI_Comm communicator, void* base,
                                                    MPI_Aint size, const char* why, int& code) {
  auto window = std::make_shared<SeparateWindow>(base, static_cast<std::size_t>(size), why);
  Status status = window->memory.address() == nullptr
                      ? Status{Code::out_of_memory, "the public copy of a window's device memory"}
                      : window->memory.make_alike(why);
  if (!status.ok()) {
    code = ErrorTarget::of(communicator).raise_status(mpi_call, status);
    return nullptr;
  }
  PMPI_Comm_rank(communicator, &window->rank);
  Line line;
  std::snprintf(line.data(), line.size(),
                "a window of device memory is MPI_WIN_SEPARATE, and copied through host memory when its "
                "members synchronise: %s",
                why);
  record::notice(line.data());
  return window;
}

}  // namespace penstock::interpose
