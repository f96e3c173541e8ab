#include "interpose/collectives/schedules/swap_schedule.hpp"

#include <algorithm>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/datatypes/datatype_layout.hpp"

namespace penstock::interpose {

std::optional<SwapSchedule> SwapSchedule::make(void* buffer, std::vector<BlockPlace> blocks, int rank) {
  SwapSchedule schedule;
  schedule.buffer_ = buffer;
  schedule.rank_ = rank;
  if (!schedule.add_swaps(blocks, rank)) return std::nullopt;
  if (schedule.swaps_.empty()) return schedule;
  schedule.scratch_ = ScratchMemory::make(buffer, buffer, schedule.depth() * schedule.slot_bytes_);
  if (!schedule.scratch_) return std::nullopt;
  return schedule;
}

/// Returns false if a block cannot be cut as the other rank will cut it.
bool SwapSchedule::add_swaps(const std::vector<BlockPlace>& blocks, int rank) {
  constexpr std::size_t most_bytes = policy::most_swapped_bytes;
  const auto ranks = static_cast<int>(blocks.size());
  std::size_t rounds = 1;
  for (std::size_t index = 0; index < rounds; ++index) {
    for (int round = 0; round < ranks; ++round) {
      const int peer = (round - rank + ranks) % ranks;  // this rank is that peer's peer in the same round
      const BlockPlace& block = blocks[static_cast<std::size_t>(peer)];
      const std::size_t bytes = payload_bytes(block.count, block.datatype);
      if (peer == rank || bytes <= index * most_bytes) continue;
      if (bytes <= most_bytes) {
        swaps_.push_back({peer, block, bytes});
      } else {
        std::ptrdiff_t offset = 0;
        std::size_t length = 0;
        if (!is_contiguous(block.datatype, block.count, &offset, &length)) return false;
        const std::size_t begin = index * most_bytes;
        const std::size_t piece = std::min(most_bytes, bytes - begin);
        swaps_.push_back({peer,
                          {static_cast<MPI_Count>(piece), MPI_BYTE,
                           block.displacement + offset + static_cast<std::ptrdiff_t>(begin)},
                          piece});
        rounds = std::max(rounds, (bytes + most_bytes - 1) / most_bytes);
      }
      slot_bytes_ = std::max(slot_bytes_, swaps_.back().bytes);
    }
  }
  constexpr std::size_t alignment_bytes = 16;
  slot_bytes_ = (slot_bytes_ + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  return true;
}

std::size_t SwapSchedule::depth() const noexcept {
  return std::min(swaps_.size(), policy::most_swaps_at_once);
}

void SwapSchedule::outlive_the_call() {
  for (Swap& swap : swaps_) {
    datatypes_.push_back(std::make_unique<HeldDatatype>(swap.block.datatype));
    swap.block.datatype = datatypes_.back()->get();
  }
}

bool SwapSchedule::may_begin() const {
  return may_be_sent(buffer_, {1, MPI_BYTE, 0});
}

std::unique_ptr<ScheduleRun> SwapSchedule::begin(const CallScope& scope, TagRange tags) const {
  return std::make_unique<SwapRun>(*this, scope, tags);
}

SwapRun::SwapRun(const SwapSchedule& schedule, const CallScope& scope, TagRange tags)
    : schedule_(schedule), tags_(tags) {
  while (posted_ < schedule_.depth()) post(scope);
}

bool SwapRun::step(const CallScope& scope) {
  for (std::size_t index = over_; index < posted_; ++index) static_cast<void>(messages(index)->step(scope));
  while (advance(scope)) continue;
  return over_ == schedule_.swaps_.size();
}

bool SwapRun::is_owed() const {
  return std::ranges::any_of(under_way_, [](const auto& one) { return one != nullptr && one->is_owed(); });
}

/// Returns false if nothing has changed. Notes errors and continues, as the others are waiting.
bool SwapRun::advance(const CallScope& scope) {
  const std::size_t before = posted_ + put_ + over_;
  if (posted_ < schedule_.swaps_.size() && posted_ < over_ + schedule_.depth() && may_send()) post(scope);
  if (put_ < posted_ && messages(put_)->step(scope) && may_send()) {
    note(*messages(put_));
    put_in_place(scope);
  }
  if (over_ < put_ && messages(over_)->step(scope)) {
    note(*messages(over_));
    ++over_;
  }
  return posted_ + put_ + over_ != before;
}

void SwapRun::post(const CallScope& scope) {
  const SwapSchedule::Swap& swap = schedule_.swaps_[posted_];
  auto run = std::make_unique<MessageRun>(scope, tags_);
  run->receive(slot(posted_), {static_cast<MPI_Count>(swap.bytes), MPI_BYTE, 0}, swap.peer);
  run->send(schedule_.buffer_, swap.block, swap.peer);
  messages(posted_) = std::move(run);
  ++posted_;
}

void SwapRun::put_in_place(const CallScope& scope) {
  const SwapSchedule::Swap& swap = schedule_.swaps_[put_];
  auto run = std::make_unique<MessageRun>(scope, tags_);
  if (is_well()) {
    run->keep(slot(put_), {static_cast<MPI_Count>(swap.bytes), MPI_BYTE, 0}, schedule_.buffer_, swap.block,
              schedule_.rank_);
  }
  messages(put_) = std::move(run);
  ++put_;
}

bool SwapRun::may_send() {
  return send_wait_.may_send(schedule_.buffer_, {1, MPI_BYTE, 0});
}

std::byte* SwapRun::slot(std::size_t index) const noexcept {
  return schedule_.scratch_->memory() + index % schedule_.depth() * schedule_.slot_bytes_;
}

}  // namespace penstock::interpose
