// The info by which MPI_Win_allocate is asked for device memory.
#pragma once

#include <mpi.h>

namespace penstock::windows {

/// Asks MPI_Win_allocate for device memory.
class DeviceMemoryInfo {
 public:
  DeviceMemoryInfo() {
    MPI_Info_create(&info_);
    MPI_Info_set(info_, "mpi_memory_alloc_kinds", "cuda:device");
  }
  ~DeviceMemoryInfo() { MPI_Info_free(&info_); }
  DeviceMemoryInfo(const DeviceMemoryInfo&) = delete;
  DeviceMemoryInfo& operator=(const DeviceMemoryInfo&) = delete;
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace penstock::windows
