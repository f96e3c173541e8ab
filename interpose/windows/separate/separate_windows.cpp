#include "interpose/windows/separate/separate_windows.hpp"

#include <cstdio>

#include "interpose/record/recorder.hpp"

namespace penstock::interpose {

namespace {

/// Notes this member's rank, and says on a line what kind of window it is.
void note_separate(SeparateWindow& window, MPI_Comm communicator) {
  PMPI_Comm_rank(communicator, &window.rank);
  Line line;
  std::snprintf(line.data(), line.size(),
                "a window of device memory is MPI_WIN_SEPARATE, and copied through host memory when its "
                "members synchronise: %s",
                window.why);
  record::notice(line.data());
}

}  // namespace

WindowTable<SeparateWindow>& separate_windows() noexcept {
  static WindowTable<SeparateWindow>& all = *new WindowTable<SeparateWindow>;
  return all;
}

std::shared_ptr<SeparateWindow> prepare_public_copy(MPI_Comm communicator, void* base, MPI_Aint size,
                                                    const char* why, Status& prepared) {
  auto window = std::make_shared<SeparateWindow>(base, static_cast<std::size_t>(size), why);
  prepared = window->memory.address() == nullptr
                 ? Status{Code::out_of_memory, "the public copy of a window's device memory"}
                 : window->memory.make_alike(why);
  if (!prepared.ok()) return nullptr;
  note_separate(*window, communicator);
  return window;
}

std::shared_ptr<SeparateWindow> allocate_private_copy(MPI_Comm communicator, MPI_Win handle, MPI_Aint size,
                                                      const char* why) {
  // MPICH 4.0 gives the program another address, if sizes are no multiples of 16, than the one that others
  // access
  void* public_copy = nullptr;
  int is_there = 0;
  PMPI_Win_get_attr(handle, MPI_WIN_BASE, static_cast<void*>(&public_copy), &is_there);
  const auto bytes = static_cast<std::size_t>(size);
  AllocatedMemory memory;
  Status status = AllocatedMemory::make(bytes, true, memory);
  std::shared_ptr<SeparateWindow> window;
  if (status.ok()) {
    window = std::make_shared<SeparateWindow>(std::move(memory), bytes, public_copy, why);
    status = window->memory.address() == nullptr ? Status{Code::out_of_memory, "a copy of a window's memory"}
                                                 : window->memory.begin_alike();
  }
  if (!status.ok()) {
    notice_refusal("MPI_Win_allocate gives host memory", status);
    return nullptr;
  }
  note_separate(*window, communicator);
  return window;
}

}  // namespace penstock::interpose
