#include "examples/particles/exchange.hpp"

#include <algorithm>
#include <iterator>

namespace particles {
namespace {

constexpr int tag = 0;
constexpr int count_tag = 1;
constexpr int record_words = sizeof(Record) / sizeof(std::uint32_t);

int words_of(std::uint32_t records) {
  return static_cast<int>(records) * record_words;
}

void wait_for_all(std::vector<MPI_Request>& requests) {
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void copy(const example::Stream& stream, Record* to, const Record* from, std::uint32_t count) {
  example::check(cudaMemcpyAsync(to, from, count * sizeof(Record), cudaMemcpyDefault, stream.get()),
                 "copy records");
}

}  // namespace

NeighbourExchange::NeighbourExchange(const Way& way, MPI_Comm communicator, std::span<const int> neighbours,
                                     std::span<const std::uint32_t> rooms)
    : way_(way), communicator_(communicator), to_(neighbours.begin(), neighbours.end()) {
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
  if (way_.counts == Counts::with) {
    for (MPI_Request& request : receives_) {
      MPI_Request_free(&request);
    }
  }
  if (graph_ != MPI_COMM_NULL) {
    MPI_Comm_free(&graph_);
  }
}

Record* NeighbourExchange::sent(std::size_t index) const {
  return (by_hand() ? host_outbox_.get() : outbox_.records) + outbox_.starts[index];
}

Record* NeighbourExchange::received(std::size_t index) const {
  return (by_hand() ? host_inbox_.get() : inbox_.records) + inbox_.starts[index];
}

void NeighbourExchange::prepare() {
  const std::uint32_t out = outbox_.starts[outbox_.neighbours];
  memory_.emplace(static_cast<std::size_t>(room()) + 1);  // a record may be read with the one behind it
  outbox_.records = memory_->get();
  inbox_.records = memory_->get() + out;
  come_.resize(from_.size());
  if (by_hand()) {
    host_outbox_ = example::PinnedArray<Record>(std::max(out, 1U));
    host_inbox_ = example::PinnedArray<Record>(std::max(inbox_room(), 1U));
  }
  if (by_collective()) {
    MPI_Dist_graph_create_adjacent(communicator_, static_cast<int>(from_.size()), from_.data(),
                                   MPI_UNWEIGHTED, static_cast<int>(to_.size()), to_.data(), MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &graph_);
  } else if (way_.counts == Counts::with) {
    for (std::size_t index = 0; index < from_.size(); ++index) {
      MPI_Recv_init(received(index), words_of(inbox_.room(static_cast<std::uint32_t>(index))), MPI_UINT32_T,
                    from_[index], tag, communicator_, &receives_.emplace_back());
    }
  }
}

void NeighbourExchange::copy_out(const example::Stream& stream, const std::uint32_t* counts) {
  for (std::size_t index = 0; index < to_.size(); ++index) {
    copy(stream, sent(index), outbox_.records + outbox_.starts[index], counts[index]);
  }
  stream.synchronize();
}

void NeighbourExchange::copy_in(const example::Stream& stream) {
  for (std::size_t index = 0; index < from_.size(); ++index) {
    copy(stream, inbox_.records + inbox_.starts[index], received(index), come_[index]);
  }
  stream.synchronize();  // the host's memory is used again by the next exchange
}

void NeighbourExchange::ask_for_counts(const std::uint32_t* counts) {
  std::vector<MPI_Request> requests(from_.size() + to_.size());
  for (std::size_t index = 0; index < from_.size(); ++index) {
    MPI_Irecv(&come_[index], 1, MPI_UINT32_T, from_[index], count_tag, communicator_, &requests[index]);
  }
  for (std::size_t index = 0; index < to_.size(); ++index) {
    MPI_Isend(&counts[index], 1, MPI_UINT32_T, to_[index], count_tag, communicator_,
              &requests[from_.size() + index]);
  }
  wait_for_all(requests);
}

void NeighbourExchange::send(const std::uint32_t* counts) {
  sends_.clear();
  for (std::size_t index = 0; index < to_.size(); ++index) {
    MPI_Isend(sent(index), words_of(counts[index]), MPI_UINT32_T, to_[index], tag, communicator_,
              &sends_.emplace_back());
  }
}

/// What sends have been queued for; where lengths come with messages, receives have been started.
void NeighbourExchange::receive() {
  std::vector<MPI_Status> statuses(from_.size());
  if (way_.counts == Counts::ahead) {
    receives_.clear();
    for (std::size_t index = 0; index < from_.size(); ++index) {
      MPI_Irecv(received(index), words_of(come_[index]), MPI_UINT32_T, from_[index], tag, communicator_,
                &receives_.emplace_back());
    }
  } else if (way_.counts == Counts::probe) {
    receives_.clear();
    for (std::size_t index = 0; index < from_.size(); ++index) {
      MPI_Message message = MPI_MESSAGE_NULL;
      int words = 0;
      MPI_Mprobe(from_[index], tag, communicator_, &message, &statuses[index]);
      MPI_Get_count(&statuses[index], MPI_UINT32_T, &words);
      MPI_Imrecv(received(index), words, MPI_UINT32_T, &message, &receives_.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(receives_.size()), receives_.data(), statuses.data());
  for (std::size_t index = 0; index < from_.size(); ++index) {
    int words = 0;
    MPI_Get_count(&statuses[index], MPI_UINT32_T, &words);
    come_[index] = static_cast<std::uint32_t>(words / record_words);
  }
}

void NeighbourExchange::transfer_by_collective(const std::uint32_t* counts) {
  // One more than there are: MPICH refuses null pointers where there is no neighbour.
  std::vector<std::uint32_t> out(counts, counts + to_.size());
  out.push_back(0);
  std::vector<std::uint32_t> in(from_.size() + 1);
  MPI_Neighbor_alltoall(out.data(), 1, MPI_UINT32_T, in.data(), 1, MPI_UINT32_T, graph_);
  std::copy_n(in.begin(), from_.size(), come_.begin());
  const auto words = [](const auto& records) {
    std::vector<int> result;
    std::transform(std::begin(records), std::end(records), std::back_inserter(result), words_of);
    return result;
  };
  MPI_Neighbor_alltoallv(outbox_.records, words(out).data(), words(outbox_.starts).data(), MPI_UINT32_T,
                         inbox_.records, words(in).data(), words(inbox_.starts).data(), MPI_UINT32_T, graph_);
}

void NeighbourExchange::transfer(const example::Stream& stream, const std::uint32_t* counts) {
  if (by_collective()) {
    transfer_by_collective(counts);
  } else {
    if (way_.counts == Counts::with && !from_.empty()) {  // Open MPI refuses to start none
      MPI_Startall(static_cast<int>(receives_.size()), receives_.data());
    }
    if (by_hand()) {
      copy_out(stream, counts);
    }
    if (way_.counts == Counts::ahead) {
      ask_for_counts(counts);
    }
    send(counts);
    receive();
    wait_for_all(sends_);
    if (by_hand()) {
      copy_in(stream);
    }
  }
  for (std::size_t index = 0; index < to_.size(); ++index) {
    sent_records_ += counts[index];
  }
  for (std::size_t index = 0; index < from_.size(); ++index) {
    inbox_.sums[index + 1] = inbox_.sums[index] + come_[index];
  }
}

}  // namespace particles
