// What each rank sends to each of its neighbours, at each step, of a length that the receiver does not know:
// as messages or by one collective. Every buffer that it gives to MPI is device memory, unless staged by
// hand. Knows nothing of particles but that records are sent.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "examples/particles/options.hpp"
#include "examples/particles/rim_kernels.hpp"
#include "examples/support/gpu.hpp"

namespace particles {

/// How records go, and how their number becomes known.
struct Way {
  Exchange exchange;
  Counts counts;
};

class NeighbourExchange {
 public:
  /// `rooms` for messages to those `neighbours`, in records. Collective; the communicator must outlive it.
  NeighbourExchange(const Way& way, MPI_Comm communicator, std::span<const int> neighbours,
                    std::span<const std::uint32_t> rooms);
  ~NeighbourExchange();
  NeighbourExchange(const NeighbourExchange&) = delete;
  NeighbourExchange& operator=(const NeighbourExchange&) = delete;

  /// Whether more ranks send to this one than it can keep apart.
  [[nodiscard]] bool has_too_many() const { return from_.size() > most_neighbours; }

  /// Both sides' records that there is room for.
  [[nodiscard]] std::int64_t room() const {
    return std::int64_t{outbox_.starts[outbox_.neighbours]} + inbox_room();
  }
  [[nodiscard]] std::uint32_t inbox_room() const { return inbox_.starts[inbox_.neighbours]; }

  /// Allocates what room() says, and makes receives that are started again each time, or the graph of
  /// neighbours. Collective.
  void prepare();

  [[nodiscard]] const Mailbox& outbox() const { return outbox_; }
  /// What has come.
  [[nodiscard]] const Mailbox& inbox() const { return inbox_; }

  /// Sends so many records to each neighbour, and receives. What is sent must be complete in memory; what is
  /// received may be used by work that is queued on `stream` from now on.
  void transfer(const example::Stream& stream, const std::uint32_t* counts);

  [[nodiscard]] std::int64_t sent_records() const { return sent_records_; }
  [[nodiscard]] std::size_t sends() const { return to_.size(); }

 private:
  [[nodiscard]] bool by_hand() const { return way_.exchange == Exchange::staged_by_hand; }
  [[nodiscard]] bool by_collective() const { return way_.exchange == Exchange::neighbour; }
  /// MPI's memory for what is sent to, or comes from, the neighbour of that index.
  [[nodiscard]] Record* sent(std::size_t index) const;
  [[nodiscard]] Record* received(std::size_t index) const;
  void copy_out(const example::Stream& stream, const std::uint32_t* counts);
  void copy_in(const example::Stream& stream);
  /// Fills in come_.
  void ask_for_counts(const std::uint32_t* counts);
  void send(const std::uint32_t* counts);
  void receive();
  void transfer_by_collective(const std::uint32_t* counts);

  Way way_;
  MPI_Comm communicator_;
  std::vector<int> to_;
  std::vector<int> from_;
  Mailbox outbox_{};
  Mailbox inbox_{};
  std::optional<example::DeviceArray<Record>> memory_;
  example::PinnedArray<Record> host_outbox_;
  example::PinnedArray<Record> host_inbox_;
  MPI_Comm graph_ = MPI_COMM_NULL;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  std::vector<std::uint32_t> come_;  ///< records from each
  std::int64_t sent_records_ = 0;
};

}  // namespace particles
