#include "interpose/windows/memory/region_cache.hpp"

#include <algorithm>
#include <mutex>

namespace penstock::interpose {

/// Rows that were not written since they were read keep their opened memory.
void RegionCache::update(Member& member) {
  const std::uint64_t version = member.table.version();
  if (version == member.version) return;
  member.rows.resize(member.table.rows());
  member.by_address.clear();
  for (std::size_t row = 0; row < member.rows.size(); ++row) {
    Region& region = member.rows[row];
    if (member.table.generation(row) != region.generation) {
      region = {};
      MemberRecord record{};
      std::uint64_t generation = 0;
      if (member.table.read(row, record, generation)) {
        region.memory = std::make_shared<MemberMemory>(record);
        region.base = record.offer.address;
        region.bytes = record.bytes;
        region.generation = generation;
      }
    }
    if (region.bytes != 0) member.by_address.push_back(row);
  }
  std::ranges::sort(member.by_address, {}, [&](std::size_t row) { return member.rows[row].base; });
  member.version = version;
}

FoundRegion RegionCache::find(std::size_t target, std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  Member& member = members_[target];
  update(member);
  const auto base_of = [&](std::size_t row) { return member.rows[row].base; };
  const auto behind = std::ranges::upper_bound(member.by_address, address, {}, base_of);
  if (behind == member.by_address.begin()) return {};
  Region& region = member.rows[*std::prev(behind)];
  if (address - region.base >= region.bytes) return {};
  if (!region.is_open) {
    if (const char* const why_not = region.memory->open(); why_not != nullptr)
      return {nullptr, region.base, 0, why_not, !std::exchange(region.has_failed, true)};
    region.is_open = true;
  }
  std::uint64_t end = region.base + region.bytes;
  for (auto row = behind; row != member.by_address.end() && end - address < bytes; ++row) {
    const Region& next = member.rows[*row];
    if (next.base != end || !region.memory->leads_to(*next.memory)) break;
    end += next.bytes;
  }
  return {region.memory, region.base, end - region.base};
}

void RegionCache::drop_detached() {
  const std::lock_guard lock(mutex_);
  for (Member& member : members_) update(member);
}

}  // namespace penstock::interpose
