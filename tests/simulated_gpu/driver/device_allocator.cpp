// cuMemAlloc and pool memory: large allocations own their memory, small ones are packed into 2 MiB blocks, so
// that their IPC handles and address ranges lie inside something larger, as on a real GPU.
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "call.hpp"
#include "memory.hpp"

namespace simulated_gpu {
namespace {

constexpr std::size_t block_bytes = AddressSpace::granule;
constexpr std::size_t largest_packed_bytes = block_bytes / 2;
constexpr std::size_t packing_alignment = 512;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

/// Address range with memory behind it. Owns both.
class Backed {
 public:
  Backed(Device& device, std::size_t bytes)
      : physical_(std::make_shared<PhysicalMemory>(device, bytes)),
        address_(AddressSpace::instance().reserve(bytes, AddressSpace::granule)) {
    try {
      AddressSpace::instance().map(address_, physical_->file(), 0, bytes);
    } catch (...) {
      AddressSpace::instance().release(address_, bytes);
      throw;
    }
  }
  ~Backed() {
    AddressSpace::instance().unmap(address_, physical_->bytes());
    AddressSpace::instance().release(address_, physical_->bytes());
  }
  Backed(const Backed&) = delete;
  Backed& operator=(const Backed&) = delete;

  [[nodiscard]] Address address() const noexcept { return address_; }
  [[nodiscard]] const std::shared_ptr<PhysicalMemory>& physical() const noexcept { return physical_; }

 private:
  std::shared_ptr<PhysicalMemory> physical_;
  Address address_;
};

/// What lies at one address: a large allocation, or a block with its free pieces (offset to bytes).
struct Piece {
  std::unique_ptr<Backed> backed;
  std::map<std::size_t, std::size_t> free;
};

/// Memory is never packed together across contexts' devices or kinds.
using Home = std::pair<const Device*, MemoryKind>;

struct Allocator {
  std::mutex mutex;
  std::map<Home, std::map<Address, Piece>> blocks;
  std::map<Address, std::unique_ptr<Backed>> large;
};

Allocator& allocator() {
  static auto& only = *new Allocator;
  return only;
}

/// First fit in a block; SIZE_MAX if it is too full.
std::size_t take_piece(std::map<std::size_t, std::size_t>& free, std::size_t bytes) {
  for (auto piece = free.begin(); piece != free.end(); ++piece) {
    const auto [offset, size] = *piece;
    if (size < bytes) continue;
    free.erase(piece);
    if (size > bytes) free[offset + bytes] = size - bytes;
    return offset;
  }
  return SIZE_MAX;
}

void return_piece(std::map<std::size_t, std::size_t>& free, std::size_t offset, std::size_t bytes) {
  auto next = free.lower_bound(offset);
  if (next != free.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = free.erase(next);
  }
  if (next != free.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
    std::prev(next)->second += bytes;
  } else {
    free[offset] = bytes;
  }
}

/// Block and offset for a small allocation.
std::pair<const Backed*, std::size_t> pack(MemoryKind kind, Device& device, std::size_t bytes) {
  auto& blocks = allocator().blocks[{&device, kind}];
  for (auto& [address, block] : blocks) {
    if (const std::size_t offset = take_piece(block.free, bytes); offset != SIZE_MAX) {
      return {block.backed.get(), offset};
    }
  }
  auto backed = std::make_unique<Backed>(device, block_bytes);
  const Address address = backed->address();
  Piece& block = blocks[address] = {std::move(backed), {{bytes, block_bytes - bytes}}};
  return {block.backed.get(), 0};
}

}  // namespace

AllocationRef allocate_on_device(MemoryKind kind, Device& device, Context* context, std::size_t bytes) {
  const std::scoped_lock lock(allocator().mutex);
  Allocation allocation{.kind = kind, .bytes = bytes, .context = context, .device = &device};
  if (bytes <= largest_packed_bytes) {
    const auto [block, offset] = pack(kind, device, rounded_up(bytes, packing_alignment));
    allocation.base = block->address() + offset;
    allocation.physical = block->physical();
    allocation.physical_offset = offset;
  } else {
    auto backed = std::make_unique<Backed>(device, rounded_up(bytes, AddressSpace::granule));
    allocation.base = backed->address();
    allocation.physical = backed->physical();
    allocator().large[allocation.base] = std::move(backed);
  }
  return add_allocation(std::move(allocation));
}

void free_on_device(const Allocation& allocation) noexcept {
  const std::scoped_lock lock(allocator().mutex);
  if (allocator().large.erase(allocation.base) > 0) return;
  auto& blocks = allocator().blocks[{allocation.device, allocation.kind}];
  const auto block = blocks.find(allocation.base - allocation.physical_offset);
  auto& free = block->second.free;
  return_piece(free, allocation.physical_offset, rounded_up(allocation.bytes, packing_alignment));
  if (free.begin()->second == block_bytes) blocks.erase(block);
}

}  // namespace simulated_gpu
