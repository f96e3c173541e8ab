#include "interpose/collectives/swap_exchange.hpp"

#include <algorithm>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/datatypes/datatype_layout.hpp"

namespace penstock::interpose {

std::optional<SwapPlan> SwapPlan::make(void* buffer, std::vector<BlockPlace> blocks, int rank) {
  SwapPlan plan;
  plan.buffer_ = buffer;
  plan.rank_ = rank;
  if (!plan.add_swaps(blocks, rank)) return std::nullopt;
  if (plan.swaps_.empty()) return plan;
  plan.place_ = Workplace::make(buffer, buffer, plan.depth() * plan.slot_bytes_);
  if (!plan.place_) return std::nullopt;
  return plan;
}

/// Returns false if a block cannot be cut as the other rank will cut it.
bool SwapPlan::add_swaps(const std::vector<BlockPlace>& blocks, int rank) {
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

std::size_t SwapPlan::depth() const noexcept {
  return std::min(swaps_.size(), policy::most_swaps_at_once);
}

void SwapPlan::outlive_the_call() {
  for (Swap& swap : swaps_) {
    datatypes_.push_back(std::make_unique<HeldDatatype>(swap.block.datatype));
    swap.block.datatype = datatypes_.back()->get();
  }
}

bool SwapPlan::may_begin() const {
  return may_be_sent(buffer_, {1, MPI_BYTE, 0});
}

std::unique_ptr<Exchange> SwapPlan::begin(const CallScope& scope, MessageLane lane) const {
  return std::make_unique<SwapExchange>(*this, scope, lane);
}

SwapExchange::SwapExchange(const SwapPlan& plan, const CallScope& scope, MessageLane lane)
    : plan_(plan), lane_(lane) {
  while (posted_ < plan_.depth()) post(scope);
}

bool SwapExchange::step(const CallScope& scope) {
  for (std::size_t index = over_; index < posted_; ++index) static_cast<void>(messages(index)->step(scope));
  while (advance(scope)) continue;
  return over_ == plan_.swaps_.size();
}

bool SwapExchange::is_owed() const {
  return std::ranges::any_of(under_way_, [](const auto& one) { return one != nullptr && one->is_owed(); });
}

/// Returns false if nothing has changed. Notes errors and continues, as the others are waiting.
bool SwapExchange::advance(const CallScope& scope) {
  const std::size_t before = posted_ + put_ + over_;
  if (posted_ < plan_.swaps_.size() && posted_ < over_ + plan_.depth() && may_send()) post(scope);
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

void SwapExchange::post(const CallScope& scope) {
  const SwapPlan::Swap& swap = plan_.swaps_[posted_];
  auto exchange = std::make_unique<MessageExchange>(scope, lane_);
  exchange->receive(slot(posted_), {static_cast<MPI_Count>(swap.bytes), MPI_BYTE, 0}, swap.peer);
  exchange->send(plan_.buffer_, swap.block, swap.peer);
  messages(posted_) = std::move(exchange);
  ++posted_;
}

void SwapExchange::put_in_place(const CallScope& scope) {
  const SwapPlan::Swap& swap = plan_.swaps_[put_];
  auto exchange = std::make_unique<MessageExchange>(scope, lane_);
  if (is_well()) {
    exchange->keep(slot(put_), {static_cast<MPI_Count>(swap.bytes), MPI_BYTE, 0}, plan_.buffer_, swap.block,
                   plan_.rank_);
  }
  messages(put_) = std::move(exchange);
  ++put_;
}

bool SwapExchange::may_send() {
  return send_wait_.may_send(plan_.buffer_, {1, MPI_BYTE, 0});
}

std::byte* SwapExchange::slot(std::size_t index) const noexcept {
  return plan_.place_->memory() + index % plan_.depth() * plan_.slot_bytes_;
}

}  // namespace penstock::interpose
