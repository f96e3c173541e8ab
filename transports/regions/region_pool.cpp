#include "transports/regions/region_pool.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace penstock::transports {
namespace {

/// Up to this capacity many regions share a segment: as many small messages may wait for late receivers as
/// there are slots (interpose/node/slots.hpp), and descriptors are few.
constexpr std::size_t smallest = 64u << 10;
constexpr std::size_t sharers = 16;

bool has_segment_of_its_own(const StagingRegion& region) noexcept {
  return region.capacity() > smallest;
}

std::size_t rounded(std::size_t capacity) noexcept {
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

Status RegionPool::take(std::size_t capacity, std::unique_ptr<StagingRegion>& region) {
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
  Regions made;
  const std::size_t count = size <= smallest ? sharers : 1;
  if (Status status = StagingRegion::make(size, count, made); !status.ok()) return status;
  region = std::move(made.back());
  made.pop_back();
  const std::lock_guard lock(mutex_);
  std::move(made.begin(), made.end(), std::back_inserter(idle_));
  return {};
}

void RegionPool::give_back(std::unique_ptr<StagingRegion> region) noexcept {
  Regions surplus;  // unmapped and unpinned after the lock is released
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

/// Takes the longest unused idle regions, and those whose receiver has died without draining them. Regions
/// that share a segment stay: the segment is freed only with all of them, and there are no more than were
/// once in use at a time.
void RegionPool::take_surplus(Regions& taken) {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const auto& region : idle_) {
    if (!has_segment_of_its_own(*region)) continue;
    ++count;
    bytes += region->capacity();
  }
  for (auto region = idle_.begin(); count > limits_.segments || bytes > limits_.bytes;) {
    if (!has_segment_of_its_own(**region)) {
      ++region;
      continue;
    }
    --count;
    bytes -= (*region)->capacity();
    taken.push_back(std::move(*region));
    region = idle_.erase(region);
  }
  if (undrained_.size() <= limits_.segments) return;
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
  std::vector<Entry> surplus;  // unmapped after the lock is released
  std::shared_ptr<Segment> segment;
  {
    const std::lock_guard lock(mutex_);
    segment = find(offer);
  }
  if (segment != nullptr) return find_region(offer, std::move(segment), region);
  if (Status opened = Segment::open(offer, segment); !opened.ok()) return opened;
  // kept only if it turns out to be a sender's
  if (Status found = find_region(offer, segment, region); !found.ok()) return found;
  const std::lock_guard lock(mutex_);
  entries_.push_back({{offer.process_id, offer.process_nonce}, segment_number(offer.region.id), segment});
  take_surplus(surplus);
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

std::shared_ptr<Segment> RegionCache::find(const Offer& offer) {
  const auto same = [&](const Entry& entry) {
    return entry.sender == ProcessIdentity{offer.process_id, offer.process_nonce} &&
           entry.number == segment_number(offer.region.id) &&
           entry.segment->bytes() == offer.region.segment_bytes;
  };
  const auto known = std::find_if(entries_.begin(), entries_.end(), same);
  if (known == entries_.end()) return nullptr;
  std::rotate(known, known + 1, entries_.end());
  return entries_.back().segment;
}

void RegionCache::take_surplus(std::vector<Entry>& taken) {
  std::size_t bytes = 0;
  for (const Entry& entry : entries_) bytes += entry.segment->bytes();
  // the last entry was just requested; a segment in use lives on until its pull ends
  while (entries_.size() > 1 && (entries_.size() > limits_.segments || bytes > limits_.bytes)) {
    bytes -= entries_.front().segment->bytes();
    taken.push_back(std::move(entries_.front()));
    entries_.erase(entries_.begin());
  }
}

}  // namespace penstock::transports
