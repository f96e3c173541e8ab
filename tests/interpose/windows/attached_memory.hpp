// A window to which the ranks attach memory, and what its tests share.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {

/// A dynamic window of all ranks, which use a GPU; errors are returned. The memory that is attached must
/// outlive it or be detached.
class DynamicWindow {
 public:
  DynamicWindow() {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &handle_);
    MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN);
  }
  ~DynamicWindow() { MPI_Win_free(&handle_); }
  DynamicWindow(const DynamicWindow&) = delete;
  DynamicWindow& operator=(const DynamicWindow&) = delete;

  [[nodiscard]] MPI_Win get() const { return handle_; }
  /// Returns the class of the error.
  template <typename T>
  int attach(T* base, std::size_t count) const {
    return class_of(MPI_Win_attach(handle_, base, static_cast<MPI_Aint>(count * sizeof(T))));
  }
  template <typename T>
  int attach(const Elements<T>& elements) const {
    return attach(elements.data(), elements.count());
  }
  int detach(const void* base) const { return class_of(MPI_Win_detach(handle_, base)); }

 private:
  Elements<int> uses_gpu_{MemoryKind::device, 1};
  MPI_Win handle_ = MPI_WIN_NULL;
};

/// Returns every rank's address. All ranks come, so what they have attached before can be accessed after.
inline std::vector<MPI_Aint> addresses_of_all(const void* own) {
  MPI_Aint address = 0;
  MPI_Get_address(own, &address);
  std::vector<MPI_Aint> all(static_cast<std::size_t>(ranks()));
  MPI_Allgather(&address, 1, MPI_AINT, all.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  return all;
}

/// Returns the address of an element of another rank's.
template <typename T>
MPI_Aint element(MPI_Aint base, std::size_t index) {
  return MPI_Aint_add(base, static_cast<MPI_Aint>(index * sizeof(T)));
}

inline int next_rank() {
  return (rank() + 1) % ranks();
}
inline int last_rank() {
  return (rank() + ranks() - 1) % ranks();
}

}  // namespace penstock::windows
