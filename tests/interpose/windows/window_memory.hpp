// A window whose members have memory of given kinds, and what its tests share.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "tests/interpose/windows/device_memory_info.hpp"
#include "tests/interpose/windows/library_windows.hpp"
#include "tests/programs/test_messages.hpp"

namespace penstock::windows {

using programs::class_of;
using programs::rank;
using test_support::Memory;
using test_support::MemoryKind;

inline int ranks() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Returns whether all ranks' kinds are of the host; then the library makes the window.
inline bool are_all_on_host(MemoryKind own) {
  int on_device = test_support::lives_on_device(own) ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &on_device, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return on_device == 0;
}

/// Skips a test whose window the library would have to make, but cannot.
#define PENSTOCK_SKIP_WITHOUT_WINDOW(kind) \
  if (are_all_on_host(kind) && !library_makes_windows()) GTEST_SKIP() << "this MPI makes no windows here"

/// Elements in memory of a kind on the rank's device.
template <typename T>
class Elements {
 public:
  Elements(MemoryKind kind, std::size_t count, T value = T{})
      : memory_(kind, count * sizeof(T), programs::own_device()), count_(count) {
    set(std::vector<T>(count, value));
  }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] std::size_t count() const { return count_; }
  void set(const std::vector<T>& values) { memory_.write(0, values.data(), values.size() * sizeof(T)); }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> values(count_);
    memory_.read(0, values.data(), count_ * sizeof(T));
    return values;
  }
  [[nodiscard]] T operator[](std::size_t index) const { return get()[index]; }
  [[nodiscard]] Memory& memory() { return memory_; }

 private:
  Memory memory_;
  std::size_t count_;
};

/// Each rank's memory is of the kind that its number picks.
inline MemoryKind kind_of_rank(std::span<const MemoryKind> kinds, int shift = 0) {
  return kinds[static_cast<std::size_t>(rank() + shift) % kinds.size()];
}

/// A window over elements of all ranks; errors are returned.
template <typename T>
class WindowOf {
 public:
  WindowOf(MemoryKind kind, std::size_t count, T value = T{}) : elements_(kind, count, value) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_create(elements_.data(), static_cast<MPI_Aint>(count * sizeof(T)), sizeof(T), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &handle_);
    MPI_Win_set_errhandler(handle_, MPI_ERRORS_RETURN);
  }
  ~WindowOf() { MPI_Win_free(&handle_); }
  WindowOf(const WindowOf&) = delete;
  WindowOf& operator=(const WindowOf&) = delete;

  [[nodiscard]] MPI_Win get() const { return handle_; }
  [[nodiscard]] Elements<T>& elements() { return elements_; }

 private:
  Elements<T> elements_;
  MPI_Win handle_ = MPI_WIN_NULL;
};

}  // namespace penstock::windows
