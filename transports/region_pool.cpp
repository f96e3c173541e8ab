#include "transports/region_pool.hpp"

#include <algorithm>
#include <bit>

namespace penstock::transports {
namespace {

std::size_t rounded(std::size_t capacity) noexcept {
  constexpr std::size_t smallest = 64u << 10;
  constexpr std::size_t step = 64u << 20;  // above it, powers of two would waste too much pinned memory
  if (capacity == 0) return 0;
  if (capacity <= step) return std::bit_ceil(std::max(capacity, smallest));
  return (capacity + step - 1) / step * step;
}

}  // namespace

RegionPool& RegionPool::of_process() {
  static auto* const instance = new RegionPool;
  return *instance;
}

Status RegionPool::take(std::size_t capacity, std::unique_ptr<Region>& region) {
  const std::size_t size = rounded(capacity);
  {
    const std::lock_guard lock(mutex_);
    collect_drained();
    const auto fits = [&](const auto& each) { return each->capacity() == size; };
    const auto found = std::find_if(idle_.rbegin(), idle_.rend(), fits);
    if (found != idle_.rend()) {
      region = std::move(*found);
      idle_.erase(found.base() - 1);
      return {};
    }
  }
  return Region::make(size, region);
}

void RegionPool::give_back(std::unique_ptr<Region> region) noexcept {
  Regions surplus;  // unmapped and unpinned when the lock is no longer held
  const std::lock_guard lock(mutex_);
  try {
    undrained_.push_back(std::move(region));
    collect_drained();
    take_surplus(surplus);
  } catch (const std::bad_alloc&) {
    // what could not be kept is freed; a receiver has a mapping of its own
  }
}

void RegionPool::clear() noexcept {
  Regions idle;
  Regions undrained;
  const std::lock_guard lock(mutex_);
  idle.swap(idle_);
  undrained.swap(undrained_);
}

std::size_t RegionPool::idle() const {
  const std::lock_guard lock(mutex_);
  return idle_.size();
}

void RegionPool::collect_drained() {
  const auto drained = std::stable_partition(undrained_.begin(), undrained_.end(),
                                             [](const auto& region) { return !region->is_drained(); });
  std::for_each(drained, undrained_.end(), [](const auto& region) { region->end(); });
  std::move(drained, undrained_.end(), std::back_inserter(idle_));
  undrained_.erase(drained, undrained_.end());
}

/// The longest unused idle ones, and those whose receiver will never drain them.
void RegionPool::take_surplus(Regions& taken) {
  std::size_t bytes = 0;
  for (const auto& region : idle_) bytes += region->capacity();
  while (!idle_.empty() && (idle_.size() > limits_.regions || bytes > limits_.bytes)) {
    bytes -= idle_.front()->capacity();
    taken.push_back(std::move(idle_.front()));
    idle_.erase(idle_.begin());
  }
  if (undrained_.size() <= limits_.regions) return;
  const auto lost = std::stable_partition(undrained_.begin(), undrained_.end(),
                                          [](const auto& region) { return !region->lost_its_receiver(); });
  std::move(lost, undrained_.end(), std::back_inserter(taken));
  undrained_.erase(lost, undrained_.end());
}

RegionCache& RegionCache::of_process() {
  static auto* const instance = new RegionCache;
  return *instance;
}

Status RegionCache::open(const Offer& offer, std::shared_ptr<MappedRegion>& region) {
  std::vector<Entry> surplus;  // unmapped when the lock is no longer held
  std::shared_ptr<MappedRegion> found;
  {
    const std::lock_guard lock(mutex_);
    found = find(offer);
  }
  if (found == nullptr) {
    if (Status opened = open_region(offer, found); !opened.ok()) return opened;
    const std::lock_guard lock(mutex_);
    entries_.push_back({{offer.process_id, offer.process_nonce}, region_number(offer.region_id), found});
    take_surplus(surplus);
  }
  if (found->header().ticket.load(std::memory_order_acquire) != offer.region_id) {
    return {Code::peer_lost, "sender's staging region serves another message"};
  }
  region = std::move(found);
  return {};
}

void RegionCache::clear() noexcept {
  std::vector<Entry> dropped;
  const std::lock_guard lock(mutex_);
  dropped.swap(entries_);
}

std::size_t RegionCache::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::shared_ptr<MappedRegion> RegionCache::find(const Offer& offer) {
  const auto same = [&](const Entry& entry) {
    return entry.sender == ProcessIdentity{offer.process_id, offer.process_nonce} &&
           entry.number == region_number(offer.region_id) && entry.region->bytes() == offer.region_bytes;
  };
  const auto known = std::find_if(entries_.begin(), entries_.end(), same);
  if (known == entries_.end()) return nullptr;
  std::rotate(known, known + 1, entries_.end());
  return entries_.back().region;
}

void RegionCache::take_surplus(std::vector<Entry>& taken) {
  std::size_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.region->bytes();
  // the last one is the one just asked for; one in use lives on until its pull ends
  while (entries_.size() > 1 && (entries_.size() > limits_.regions || bytes > limits_.bytes)) {
    bytes -= entries_.front().region->bytes();
    taken.push_back(std::move(entries_.front()));
    entries_.erase(entries_.begin());
  }
}

}  // namespace penstock::transports
