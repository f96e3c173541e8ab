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
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::uintptr_t block = address >> block_shift;
  std::atomic<std::uintptr_t>& known = accessible_blocks[block % accessible_blocks.size()];
  if (known.load(std::memory_order_relaxed) == block) return true;
  if (!can_read_one_byte(pointer) && !is_mapped_for_access(address)) return false;
  known.store(block, std::memory_order_relaxed);
  return true;
}

}  // namespace penstock::transports::cuda
