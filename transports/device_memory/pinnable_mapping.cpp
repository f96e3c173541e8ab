#include "transports/device_memory/pinnable_mapping.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "transports/device_memory/pinned_memory.hpp"

namespace penstock::transports::cuda {

struct PinnableMapping::Memory {
  explicit Memory(HostMapping mapped) noexcept
      : mapping(std::move(mapped)), registration(mapping.address(), mapping.bytes()) {}
  HostMapping mapping;
  Registration registration;  ///< ends first

  using List = std::vector<std::unique_ptr<Memory>>;
  struct Unused {
    std::mutex mutex;
    List list;
  };
  static Unused& unused() {
    static auto* const instance = new Unused;
    return *instance;
  }
};

PinnableMapping::PinnableMapping(HostMapping mapping)
    : memory_(std::make_unique<Memory>(std::move(mapping))) {}

PinnableMapping::PinnableMapping(PinnableMapping&&) noexcept = default;

PinnableMapping::~PinnableMapping() {
  if (memory_ == nullptr || !memory_->registration.is_there()) return;
  if (Context::all_are_quiet()) return;
  // if memory is short, it stays mapped: unpinning might never return
  Memory* const kept = memory_.release();
  try {
    Memory::Unused& unused = Memory::unused();
    const std::lock_guard lock(unused.mutex);
    unused.list.emplace_back(kept);
  } catch (const std::bad_alloc&) {
  }
}

char* PinnableMapping::address() const noexcept {
  return memory_->mapping.address();
}

std::size_t PinnableMapping::bytes() const noexcept {
  return memory_->mapping.bytes();
}

bool PinnableMapping::pin(const ContextRef& context) noexcept {
  return memory_->registration.ensure(context);
}

void PinnableMapping::free_unused() noexcept {
  Memory::List freed;  // after the lock is released
  Memory::Unused& unused = Memory::unused();
  const std::lock_guard lock(unused.mutex);
  if (!unused.list.empty() && Context::all_are_quiet()) freed.swap(unused.list);
}

void PinnableMapping::free_all_unused() noexcept {
  Memory::List freed;
  Memory::Unused& unused = Memory::unused();
  const std::lock_guard lock(unused.mutex);
  freed.swap(unused.list);
}

}  // namespace penstock::transports::cuda
