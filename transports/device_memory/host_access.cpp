#include "transports/device_memory/host_access.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>

namespace penstock::transports::cuda {
namespace {

/// Device memory is mapped in aligned blocks of 2 MiB: no block holds host and device addresses.
constexpr unsigned block_shift = 21;

/// Blocks where the host was seen to have access; an entry is a block's number, a newer one takes its place.
std::array<std::atomic<std::uintptr_t>, 1024> accessible_blocks;

std::uintptr_t block_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer) >> block_shift;
}

std::atomic<std::uintptr_t>& place_of(std::uintptr_t block) noexcept {
  return accessible_blocks[block % accessible_blocks.size()];
}

bool can_read_one_byte(const void* pointer) noexcept {
  char byte = 0;
  iovec into{&byte, 1};
  iovec from{const_cast<void*>(pointer), 1};
  return ::process_vm_readv(::getpid(), &into, 1, &from, 1, 0) == 1;
}

/// Searches the list of mappings, as memory that the system call refuses may still be accessible (a mapped
/// device register bar). Returns true if there is no list: nothing is refused that may be valid.
bool is_mapped_for_access(std::uintptr_t address) noexcept {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return true;
  bool accessible = false;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long begin = 0;
    unsigned long long end = 0;
    char permissions[5] = "";
    if (std::sscanf(line, "%llx-%llx %4s", &begin, &end, permissions) != 3) continue;
    if (address < begin || address >= end) continue;
    accessible = permissions[0] == 'r' || permissions[1] == 'w';
    break;
  }
  std::fclose(maps);
  return accessible;
}

}  // namespace

bool host_can_access(const void* pointer) noexcept {
  const std::uintptr_t block = block_of(pointer);
  std::atomic<std::uintptr_t>& known = place_of(block);
  if (known.load(std::memory_order_relaxed) == block) return true;
  if (!can_read_one_byte(pointer) && !is_mapped_for_access(reinterpret_cast<std::uintptr_t>(pointer)))
    return false;
  known.store(block, std::memory_order_relaxed);
  return true;
}

void note_device_address(const void* pointer) noexcept {
  const std::uintptr_t block = block_of(pointer);
  std::atomic<std::uintptr_t>& known = place_of(block);
  // the host had memory there before
  if (known.load(std::memory_order_relaxed) == block) known.store(0, std::memory_order_relaxed);
}

}  // namespace penstock::transports::cuda
