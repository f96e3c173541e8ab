#include "physical_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "call.hpp"

namespace simulated_gpu {

PhysicalMemory::PhysicalMemory(Device& device, std::size_t bytes)
    : device_(device), bytes_(bytes), counted_(true) {
  device.take(bytes);
  file_ = memfd_create("simulated_gpu", MFD_CLOEXEC);
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes)) == 0) return;
  if (file_ >= 0) close(file_);
  device.give_back(bytes);
  throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
}

PhysicalMemory::PhysicalMemory(Device& device, int file, std::size_t bytes) noexcept
    : device_(device), file_(file), bytes_(bytes), counted_(false) {}

PhysicalMemory::~PhysicalMemory() {
  close(file_);
  if (counted_) device_.give_back(bytes_);
}

std::uint64_t inode_of(int file) noexcept {
  struct stat facts {};
  return fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

int open_file_of(std::int64_t process, int file, std::uint64_t inode) noexcept {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%d", static_cast<long long>(process), file);
  const int opened = open(path, O_RDWR | O_CLOEXEC);
  if (opened >= 0 && inode_of(opened) != inode) {
    close(opened);
    return -1;
  }
  return opened;
}

}  // namespace simulated_gpu
