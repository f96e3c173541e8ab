#include "examples/particles/exchange.hpp"

#include <algorithm>

namespace particles {
namespace {

constexpr int tag = 0;
constexpr int record_words = sizeof(Record) / sizeof(std::uint32_t);

void copy(const example::Stream& stream, Record* to, const Record* from, std::uint32_t count) {
  example::check(cudaMemcpyAsync(to, from, count * sizeof(Record), cudaMemcpyDefault, stream.get()),
                 "copy records");
}

}  // namespace

NeighbourExchange::NeighbourExchange(example::Exchange exchange, MPI_Comm communicator,
                                     std::span<const int> neighbours, std::span<const std::uint32_t> rooms)
    : exchange_(exchange), communicator_(communicator), to_(neighbours.begin(), neighbours.end()) {
  int rank_count = 1;
  MPI_Comm_size(communicator, &rank_count);
  std::vector<std::uint32_t> rooms_to(static_cast<std::size_t>(rank_count));
  outbox_.neighbours = static_cast<std::uint32_t>(to_.size());
  for (std::size_t index = 0; index < to_.size(); ++index) {
    rooms_to[static_cast<std::size_t>(to_[index])] = rooms[index];
    outbox_.starts[index + 1] = outbox_.starts[index] + rooms[index];
  }
  std::vector<std::uint32_t> rooms_from(rooms_to.size());
  MPI_Alltoall(rooms_to.data(), 1, MPI_UINT32_T, rooms_from.data(), 1, MPI_UINT32_T, communicator);
  for (int rank = 0; rank < rank_count; ++rank) {
    const std::uint32_t room = rooms_from[static_cast<std::size_t>(rank)];
    if (room == 0) {
      continue;
    }
    from_.push_back(rank);
    if (!has_too_many()) {
      inbox_.starts[inbox_.neighbours + 1] = inbox_.starts[inbox_.neighbours] + room;
      ++inbox_.neighbours;
    }
  }
}

NeighbourExchange::~NeighbourExchange() {
  for (MPI_Request& request : receives_) {
    MPI_Request_free(&request);
  }
}

void NeighbourExchange::prepare() {
  const std::uint32_t out = outbox_.starts[outbox_.neighbours];
  memory_.emplace(static_cast<std::size_t>(room()) + 1);  // a record may be read with the one behind it
  outbox_.records = memory_->get();
  inbox_.records = memory_->get() + out;
  if (by_hand()) {
    host_outbox_ = example::PinnedArray<Record>(std::max(out, 1U));
    host_inbox_ = example::PinnedArray<Record>(std::max(inbox_room(), 1U));
  }
  Record* const received = by_hand() ? host_inbox_.get() : inbox_.records;
  for (std::size_t index = 0; index < from_.size(); ++index) {
    MPI_Recv_init(received + inbox_.starts[index],
                  static_cast<int>(inbox_.room(static_cast<std::uint32_t>(index))) * record_words,
                  MPI_UINT32_T, from_[index], tag, communicator_, &receives_.emplace_back());
  }
  statuses_.resize(from_.size());
}

void NeighbourExchange::transfer(const example::Stream& stream, const std::uint32_t* counts) {
  if (to_.empty() && from_.empty()) {
    return;
  }
  if (!from_.empty()) {  // Open MPI refuses to start none
    MPI_Startall(static_cast<int>(receives_.size()), receives_.data());
  }
  Record* const sent = by_hand() ? host_outbox_.get() : outbox_.records;
  if (by_hand()) {
    for (std::size_t index = 0; index < to_.size(); ++index) {
      copy(stream, sent + outbox_.starts[index], outbox_.records + outbox_.starts[index], counts[index]);
    }
    stream.synchronize();
  }
  sends_.clear();
  for (std::size_t index = 0; index < to_.size(); ++index) {
    MPI_Isend(sent + outbox_.starts[index], static_cast<int>(counts[index]) * record_words, MPI_UINT32_T,
              to_[index], tag, communicator_, &sends_.emplace_back());
    sent_records_ += counts[index];
  }
  MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), statuses_.data());
  for (std::size_t index = 0; index < from_.size(); ++index) {
    int words = 0;
    MPI_Get_count(&statuses_[index], MPI_UINT32_T, &words);
    inbox_.sums[index + 1] = inbox_.sums[index] + static_cast<std::uint32_t>(words / record_words);
  }
  MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
  if (by_hand()) {
    for (std::size_t index = 0; index < from_.size(); ++index) {
      copy(stream, inbox_.records + inbox_.starts[index], host_inbox_.get() + inbox_.starts[index],
           inbox_.sums[index + 1] - inbox_.sums[index]);
    }
    stream.synchronize();  // the host's memory is used again by the next exchange
  }
}

}  // namespace particles
