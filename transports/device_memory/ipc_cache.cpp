#include "transports/device_memory/ipc_cache.hpp"

#include <algorithm>
#include <mutex>

namespace penstock::transports::cuda {
namespace {

bool overlap(const RemoteRange& one, const RemoteRange& other) noexcept {
  // subtraction cannot overflow where addition of another process's numbers could
  return one.base < other.base ? other.base - one.base < one.bytes : one.base - other.base < other.bytes;
}

/// True if only the cache has a share; new shares are given out only under the cache's lock.
bool is_idle(const std::shared_ptr<const MappedRange>& mapped) noexcept {
  return mapped.use_count() == 1;
}

/// Moves those for which `is_meant(one)` is true to the end of another list. Keeps the order of the rest.
template <typename Ranges, typename Meant>
void move_if(Ranges& from, Ranges& to, Meant is_meant) {
  const auto meant =
      std::stable_partition(from.begin(), from.end(), [&](const auto& each) { return !is_meant(each); });
  to.insert(to.end(), meant, from.end());
  from.erase(meant, from.end());
}

/// Returns whether the mapped memory is smaller than its owner claims. False if the driver cannot tell.
bool holds_less(const Driver& driver, CUdeviceptr address, std::uint64_t bytes) noexcept {
  CUdeviceptr base = 0;
  std::size_t mapped_bytes = 0;
  if (driver.cuMemGetAddressRange(&base, &mapped_bytes, address) != CUDA_SUCCESS) return false;
  return mapped_bytes - (address - base) < bytes;
}

/// Devices of one machine are taken to be alike: the owner's may be hidden from this process.
std::uint64_t idle_limit_bytes(const Driver& driver, const IpcCacheLimits& limits, int device) noexcept {
  std::size_t total = 0;
  if (driver.cuDeviceTotalMem(&total, device) != CUDA_SUCCESS) return limits.idle_bytes;
  return std::min<std::uint64_t>(limits.idle_bytes, total / limits.part_of_device);
}

}  // namespace

MappedRange::~MappedRange() {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return;
  const ContextScope scope(*context_);
  if (scope.status().ok()) driver->cuIpcCloseMemHandle(address_);
}

IpcCache& IpcCache::of_process() {
  static auto* const instance = new IpcCache;
  return *instance;
}

Status IpcCache::map(const RemoteRange& range, const CUipcMemHandle& handle, const ContextRef& context,
                     std::shared_ptr<const MappedRange>& mapped) {
  const Driver* driver = cuda::driver();
  if (driver == nullptr) return no_driver();
  Ranges dropped;  // unmapped after the lock is released
  std::uint64_t most_idle_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    mapped = find(range, context);
    if (mapped == nullptr) retire_stale(range);
    if (!retired_.empty()) take_retired(dropped);
    if (mapped != nullptr) return {};
    most_idle_bytes = idle_limit_bytes(*driver, limits_, context->device());
    if (!take_surplus(most_idle_bytes, dropped))
      return {Code::declined, "memory of other processes that cannot be unmapped while the GPU works"};
  }
  dropped.clear();
  const ContextScope scope(*context);
  if (!scope.status().ok()) return scope.status();
  // one thread at a time: the driver refuses a handle that another thread is just opening
  const std::lock_guard opening(opening_);
  {
    const std::lock_guard lock(mutex_);
    mapped = find(range, context);
    if (mapped != nullptr) return {};
  }
  CUdeviceptr address = 0;
  Status opened = check(driver->cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                        "cuIpcOpenMemHandle");
  if (!opened.ok()) return opened;
  auto fresh = std::make_shared<const MappedRange>(range, context, address);
  if (holds_less(*driver, address, range.bytes))
    return {Code::peer_lost, "size of the memory that was offered"};
  const std::lock_guard lock(mutex_);
  ranges_.push_back(fresh);
  mapped = std::move(fresh);
  static_cast<void>(take_surplus(most_idle_bytes, dropped));
  return {};
}

bool IpcCache::knows(const RemoteRange& range, const ContextRef& context) {
  const std::lock_guard lock(mutex_);
  return find(range, context) != nullptr;
}

void IpcCache::drop(const std::shared_ptr<const MappedRange>& mapped) {
  const std::lock_guard lock(mutex_);
  move_if(ranges_, retired_, [&](const auto& each) { return each == mapped; });
}

void IpcCache::unmap_dropped() {
  Ranges dropped;  // unmapped after the lock is released
  const std::lock_guard lock(mutex_);
  take_retired(dropped);
}

void IpcCache::clear() noexcept {
  Ranges dropped;
  Ranges retired;
  const std::lock_guard lock(mutex_);
  dropped.swap(ranges_);
  retired.swap(retired_);
}

std::size_t IpcCache::size() const {
  const std::lock_guard lock(mutex_);
  return ranges_.size() + retired_.size();
}

std::shared_ptr<const MappedRange> IpcCache::find(const RemoteRange& range, const ContextRef& context) {
  const auto same = [&](const auto& each) { return each->range() == range && each->context() == context; };
  const auto known = std::find_if(ranges_.rbegin(), ranges_.rend(), same);
  if (known == ranges_.rend()) return nullptr;
  std::rotate(known.base() - 1, known.base(), ranges_.end());
  return ranges_.back();
}

void IpcCache::retire_stale(const RemoteRange& range) {
  move_if(ranges_, retired_, [&](const auto& each) {
    const RemoteRange& known = each->range();
    const bool freed =
        known.owner == range.owner && known.buffer_id != range.buffer_id && overlap(known, range);
    return freed || !each->context()->is_alive();
  });
}

void IpcCache::take_retired(Ranges& taken) {
  if (Context::all_are_quiet()) move_if(retired_, taken, is_idle);
}

/// Drops idle mappings, longest unused first, until the limits hold. Returns false if they do not hold since
/// a GPU is at work.
bool IpcCache::take_surplus(std::uint64_t most_idle_bytes, Ranges& taken) {
  std::uint64_t idle_bytes = 0;
  for (const auto& each : ranges_) idle_bytes += is_idle(each) ? each->range().bytes : 0;
  for (const auto& each : retired_) idle_bytes += each->range().bytes;
  const auto exceeded = [&] {
    return ranges_.size() + retired_.size() > limits_.ranges || idle_bytes > most_idle_bytes;
  };
  if (!exceeded()) return true;
  const bool may_unmap = Context::all_are_quiet();
  bool waits_for_gpu = !retired_.empty();
  std::size_t position = 0;
  while (position + limits_.recent_ranges < ranges_.size() && exceeded()) {
    const auto& oldest = ranges_[position];
    if (!may_unmap || !is_idle(oldest)) {
      waits_for_gpu = waits_for_gpu || is_idle(oldest);
      ++position;
      continue;
    }
    idle_bytes -= oldest->range().bytes;
    taken.push_back(std::move(ranges_[position]));
    ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(position));
  }
  return !exceeded() || !waits_for_gpu;
}

}  // namespace penstock::transports::cuda
