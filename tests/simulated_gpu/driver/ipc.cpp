// Device memory between processes: a handle says whose descriptor the memory is; who opens it maps the same
// memory under an address of its own. Opening a handle again returns the same address, counted. While an
// allocation is mapped, a later one that has a part of its place but not all of it is refused.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "call.hpp"
#include "machine.hpp"
#include "memory.hpp"

namespace simulated_gpu {
namespace {

/// What a memory handle says: an allocation inside a file of another process. That process's word: the inode,
/// the file's size and the device are checked when it is opened.
struct MemoryTicket {
  char magic[8];
  std::int64_t process;
  std::uint64_t inode;
  std::uint64_t file_bytes;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t buffer_id;  ///< tells an allocation from a later one in its place
  std::int32_t file;
  std::int32_t device_number;
};
static_assert(sizeof(MemoryTicket) <= sizeof(CUipcMemHandle));
constexpr char memory_magic[8] = {'s', 'i', 'm', 'm', 'e', 'm', 'o', 'r'};

/// A process's opened handles.
struct Opened {
  Address mapping = 0;
  std::size_t mapping_bytes = 0;
  Address address = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  unsigned count = 0;
};
using OpenedKey =
    std::tuple<Context*, std::int64_t, std::uint64_t, std::uint64_t>;  // process, inode, buffer id

std::mutex opened_mutex;
std::map<OpenedKey, Opened>& opened() {
  static auto& all = *new std::map<OpenedKey, Opened>;
  return all;
}

Opened open(const MemoryTicket& ticket, Context& context) {
  const bool same_device = ticket.device_number == context.device().number;
  require(same_device || peer_access_exists(), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
  const int file = open_file_of(ticket.process, ticket.file, ticket.inode);
  require(file >= 0, CUDA_ERROR_INVALID_HANDLE);
  auto physical = std::make_shared<PhysicalMemory>(context.device(), file, ticket.file_bytes);
  require(lseek(file, 0, SEEK_END) == static_cast<off_t>(ticket.file_bytes) &&
              ticket.bytes <= ticket.file_bytes && ticket.offset <= ticket.file_bytes - ticket.bytes &&
              ticket.file_bytes % AddressSpace::granule == 0,
          CUDA_ERROR_INVALID_HANDLE);
  AddressSpace& space = AddressSpace::instance();
  const Address mapping = space.reserve(ticket.file_bytes, AddressSpace::granule);
  try {
    space.map(mapping, file, 0, ticket.file_bytes);
    add_allocation({.kind = MemoryKind::imported,
                    .base = mapping + ticket.offset,
                    .bytes = ticket.bytes,
                    .context = &context,
                    .device = &context.device(),
                    .physical = std::move(physical),
                    .physical_offset = ticket.offset});
  } catch (...) {
    space.unmap(mapping, ticket.file_bytes);
    space.release(mapping, ticket.file_bytes);
    throw;
  }
  return {mapping, ticket.file_bytes, mapping + ticket.offset, ticket.offset, ticket.bytes, 0};
}

/// Whether an allocation is mapped that overlaps the ticket's and is another one.
bool is_in_the_way(const MemoryTicket& ticket, Context& context) {
  return std::ranges::any_of(opened(), [&](const auto& entry) {
    const auto& [owner_context, process, inode, buffer_id] = entry.first;
    const Opened& other = entry.second;
    const bool is_same_block =
        owner_context == &context && process == ticket.process && inode == ticket.inode;
    const bool overlaps =
        other.offset < ticket.offset + ticket.bytes && ticket.offset < other.offset + other.bytes;
    return is_same_block && overlaps && (other.offset != ticket.offset || other.bytes != ticket.bytes);
  });
}

}  // namespace
}  // namespace simulated_gpu

using namespace simulated_gpu;

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  return driver_call(__func__, [&] {
    const AllocationRef allocation = find_allocation(address);
    require(handle != nullptr && allocation != nullptr && allocation->kind == MemoryKind::device,
            CUDA_ERROR_INVALID_VALUE);
    MemoryTicket ticket{};
    std::memcpy(ticket.magic, memory_magic, sizeof ticket.magic);
    ticket.process = getpid();
    ticket.inode = inode_of(allocation->physical->file());
    ticket.file_bytes = allocation->physical->bytes();
    ticket.offset = allocation->physical_offset;
    ticket.bytes = allocation->bytes;
    ticket.buffer_id = allocation->buffer_id;
    ticket.file = allocation->physical->file();
    ticket.device_number = allocation->device->number;
    *handle = {};
    std::memcpy(handle, &ticket, sizeof ticket);
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return driver_call(__func__, [&] {
    require(address != nullptr && (flags & ~static_cast<unsigned>(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)) == 0,
            CUDA_ERROR_INVALID_VALUE);
    MemoryTicket ticket{};
    std::memcpy(&ticket, &handle, sizeof ticket);
    require(std::memcmp(ticket.magic, memory_magic, sizeof ticket.magic) == 0, CUDA_ERROR_INVALID_HANDLE);
    Context& context = current_context();
    require(ticket.process != getpid(), CUDA_ERROR_INVALID_CONTEXT);  // as NVIDIA's for one's own handle
    const std::scoped_lock lock(opened_mutex);
    const OpenedKey key{&context, ticket.process, ticket.inode, ticket.buffer_id};
    auto found = opened().find(key);
    if (found == opened().end()) {
      require(!is_in_the_way(ticket, context), CUDA_ERROR_ALREADY_MAPPED);
      found = opened().emplace(key, open(ticket, context)).first;
    }
    ++found->second.count;
    *address = found->second.address;
    return CUDA_SUCCESS;
  });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
  return driver_call(__func__, [&] {
    const std::scoped_lock lock(opened_mutex);
    for (auto entry = opened().begin(); entry != opened().end(); ++entry) {
      const Opened mine = entry->second;
      if (mine.address != address) continue;
      if (--entry->second.count > 0) return CUDA_SUCCESS;
      opened().erase(entry);
      take_allocation(address, MemoryKind::imported);
      for (const auto& context : all_contexts()) context->synchronise();
      AddressSpace::instance().unmap(mine.mapping, mine.mapping_bytes);
      AddressSpace::instance().release(mine.mapping, mine.mapping_bytes);
      return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}
