#include "interpose/record/file/loss_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>

#include "interpose/record/file/record_times.hpp"

namespace penstock::record {
namespace {

bool are_of_one_envelope(const trace::LostHalves& lost, const trace::MessageHalf& half) noexcept {
  return lost.communicator == half.communicator && lost.peer == half.peer && lost.tag == half.tag &&
         lost.direction == half.direction && (lost.have_keys != 0) == (half.key != 0);
}

std::uint64_t hash_of(const trace::MessageHalf& half) noexcept {
  std::uint64_t mixed = static_cast<std::uint32_t>(half.peer);
  mixed = (mixed << 32 | static_cast<std::uint32_t>(half.tag)) * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 29;
  mixed += std::uint64_t{half.communicator} * 4 + (half.direction == trace::Direction::send ? 0u : 1u) +
           (half.key != 0 ? 2u : 0u);
  return (mixed * 0xbf58476d1ce4e5b9u) >> 32;
}

}  // namespace

bool LossTable::open(std::byte* copies, std::uint64_t& generation) noexcept {
  losses_.reset(new (std::nothrow) trace::Losses{});
  places_.reset(new (std::nothrow) std::array<std::uint16_t, slots>{});
  deltas_.reset(new (std::nothrow) trace::DeltaReader);
  if (!losses_ || !places_ || !deltas_) return false;
  copies_ = copies;
  generation_ = &generation;
  publish();
  return true;
}

void LossTable::lose_block(const std::byte* block) noexcept {
  trace::BlockHeader header;
  std::memcpy(&header, block, sizeof header);
  if (header.coding == trace::BlockCoding::delta) {
    add_deltas(block);
  } else {
    for (std::size_t at = trace::record_bytes; at < trace::block_bytes; at += trace::record_bytes)
      add(block + at);
  }
  losses_->last_lost_block = header.sequence;
  publish();
}

void LossTable::add_deltas(const std::byte* block) noexcept {
  deltas_->begin();
  const std::byte* at = block + trace::record_bytes;
  while (deltas_->read(at, block + trace::block_bytes) == trace::DeltaReader::Found::record)
    add(deltas_->record());
}

void LossTable::lose(const void* record) noexcept {
  add(record);
  publish();
}

void LossTable::add(const void* record) noexcept {
  const RecordTimes times = times_of(record);
  if (times.kind == trace::RecordKind::none) return;
  ++losses_->lost_records;
  if (!times.is_timed) return;
  losses_->known_from_ns = std::max(losses_->known_from_ns, times.end_ns);
  if (times.kind != trace::RecordKind::message_half) return;
  trace::MessageHalf half;
  std::memcpy(&half, record, sizeof half);
  add_half(half);
}

void LossTable::add_half(const trace::MessageHalf& half) noexcept {
  std::size_t slot = hash_of(half) % slots;
  while ((*places_)[slot] != 0 && !are_of_one_envelope(losses_->lost_halves[(*places_)[slot] - 1], half))
    slot = (slot + 1) % slots;
  if ((*places_)[slot] == 0) {
    if (losses_->groups == trace::Losses::most_groups) {
      losses_->is_full = 1;
      return;
    }
    trace::LostHalves& added = losses_->lost_halves[losses_->groups];
    added.communicator = half.communicator;
    added.peer = half.peer;
    added.tag = half.tag;
    added.direction = half.direction;
    added.have_keys = half.key == 0 ? 0 : 1;
    (*places_)[slot] = static_cast<std::uint16_t>(++losses_->groups);
  }
  trace::LostHalves& lost = losses_->lost_halves[(*places_)[slot] - 1];
  ++lost.halves;
  lost.last_post_ns = std::max(lost.last_post_ns, half.post_ns);
}

void LossTable::publish() noexcept {
  const std::uint64_t next = *generation_ + 1;
  const std::size_t used = offsetof(trace::Losses, lost_halves) + losses_->groups * sizeof(trace::LostHalves);
  std::memcpy(copies_ + next % 2 * (trace::block_bytes / 2), losses_.get(), used);
  std::atomic_ref<std::uint64_t>(*generation_).store(next, std::memory_order_release);
}

}  // namespace penstock::record
