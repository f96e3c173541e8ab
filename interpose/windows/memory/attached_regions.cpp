#include "interpose/windows/memory/attached_regions.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace penstock::interpose {

using transports::Buffer;
using transports::BufferKind;

const char* AttachedRegions::why_not(std::uint64_t base, std::uint64_t bytes,
                                     const Buffer& buffer) const noexcept {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(base, bytes, &end)) return "no memory is so large";
  if (buffer.kind == BufferKind::unknown) return "the memory was freed";
  if (buffer.kind == BufferKind::device && !buffer.holds(0, bytes)) return "it exceeds its allocation";
  const auto next = regions_.lower_bound(base);
  if (next != regions_.end() && next->first < end) return "it overlaps what is attached";
  if (next != regions_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > base)
    return "it overlaps what is attached";
  static_assert(RegionTable::most_rows == 1024);
  if (regions_.size() == RegionTable::most_rows) return "1024 regions are attached, which is the most";
  return nullptr;
}

std::size_t AttachedRegions::free_row() const noexcept {
  return static_cast<std::size_t>(std::ranges::find(rows_, false) - rows_.begin());
}

const char* AttachedRegions::attach(void* base, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const std::lock_guard lock(mutex_);
  if (bytes == 0) {
    empty_.insert(address);
    return nullptr;
  }
  const Buffer buffer = transports::inspect(base);
  if (const char* const refused = why_not(address, bytes, buffer); refused != nullptr) return refused;
  const std::size_t row = free_row();
  if (row == rows_.size()) rows_.push_back(false);
  regions_.emplace(address, Region{bytes, row, buffer});
  rows_[row] = true;
  table_.write(row, describe_member(base, bytes, 1));
  return nullptr;
}

bool AttachedRegions::detach(const void* base) {
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const std::lock_guard lock(mutex_);
  if (const auto found = regions_.find(address); found != regions_.end()) {
    table_.write(found->second.row, MemberRecord{});
    rows_[found->second.row] = false;
    regions_.erase(found);
    return true;
  }
  const auto found = empty_.find(address);
  if (found == empty_.end()) return false;
  empty_.erase(found);
  return true;
}

std::vector<Buffer> AttachedRegions::on_gpus() {
  std::vector<Buffer> buffers;
  const std::lock_guard lock(mutex_);
  for (const auto& [base, region] : regions_) {
    const Buffer& buffer = region.buffer;
    const auto is_known = [&](const Buffer& other) {
      return other.context == buffer.context && other.device == buffer.device;
    };
    if (transports::lives_on_device(buffer.kind) && std::ranges::none_of(buffers, is_known))
      buffers.push_back(buffer);
  }
  return buffers;
}

}  // namespace penstock::interpose
