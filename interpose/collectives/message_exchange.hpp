// A collective call as messages between its ranks, which take whatever transport suits each of them: device
// or host memory at either end, any datatype. Knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/collective_blocks.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/copies/pull.hpp"

namespace penstock::interpose {

/// The communicator of the messages that carry out another one's collectives, apart from the program's own.
/// Made at the first call, in which all ranks take part. Null: the MPI library could not make one, on any of
/// them.
[[nodiscard]] MPI_Comm messages_of(MPI_Comm communicator);
/// The communicator is about to be freed, by all its ranks.
void free_messages_of(MPI_Comm communicator);

/// Calls `function(rank)` for each other rank, the next one first, so that not all begin with the same.
template <typename Function>
void for_others(int own, int ranks, Function function) {
  for (int distance = 1; distance < ranks; ++distance) function((own + distance) % ranks);
}

/// One call. Post all receives, then all sends: nothing is waited for before finish(), and between two ranks
/// goes one message each way at most. Lives within the call. Thread: one.
class MessageExchange {
 public:
  /// `messages` is messages_of() the communicator.
  MessageExchange(const CallScope& scope, MPI_Comm messages) noexcept : scope_(scope), messages_(messages) {}

  /// The block lies at its displacement from `buffer`; ranks are the communicator's.
  void receive(void* buffer, const BlockPlace& block, int source);
  void send(const void* buffer, const BlockPlace& block, int destination);
  /// From this rank to itself.
  void keep(const void* buffer, const BlockPlace& block, void* to, const BlockPlace& place, int own_rank);

  /// Waits for all. Returns the first error, which has not been raised yet.
  [[nodiscard]] int finish();

 private:
  [[nodiscard]] bool copy(const void* from, const BlockPlace& block, void* to, const BlockPlace& place);
  void step_own_copy();
  void add(int code, Operation operation);
  void note(int code) noexcept {
    if (code_ == MPI_SUCCESS) code_ = code;
  }

  const CallScope& scope_;
  MPI_Comm messages_;
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::unique_ptr<transports::Pull> own_copy_;
  int code_ = MPI_SUCCESS;
};

}  // namespace penstock::interpose
