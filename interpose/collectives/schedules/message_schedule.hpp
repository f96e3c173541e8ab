// A collective call as messages between its ranks. Each message takes whatever transport suits it: device or
// host memory at either end, any datatype. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "interpose/datatypes/held_datatype.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "transports/copies/pull.hpp"

namespace penstock::interpose {

/// Returns whether the block can be sent without waiting for what the application had queued on the GPU when
/// its call began. The block may have to be downloaded.
[[nodiscard]] bool may_be_sent(const void* buffer, const BlockPlace& block);

/// The same for a block that a step sends, where no call may wait for the application's kernels.
class SendWait {
 public:
  /// Returns false if the send has to wait; call again in the next step.
  [[nodiscard]] bool may_send(const void* buffer, const BlockPlace& block) {
    const bool may = wait_.is_over([&] { return may_be_sent(buffer, block); });
    if (may) wait_ = {};
    return may;
  }

 private:
  StreamOrderWait wait_;
};

/// Returns the number of tag ranges for which a communicator has tags.
[[nodiscard]] int most_tag_ranges() noexcept;

/// Calls `function(rank)` for each other rank, beginning with the next one, so that not all begin with the
/// same.
template <typename Function>
void for_others(int own, int ranks, Function function) {
  for (int distance = 1; distance < ranks; ++distance) function((own + distance) % ranks);
}

/// Messages of one call. Post all receives, then all sends: only step() waits. Between two ranks there is one
/// message each way at most, or one on each `way` of the tags.
class MessageRun final : public ScheduleRun {
 public:
  /// `scope` is that of the call that posts, and must live as long as it posts.
  MessageRun(const CallScope& scope, TagRange tags) noexcept : scope_(&scope), tags_(tags) {}

  /// The block lies at its displacement from `buffer`; ranks are the communicator's.
  void receive(void* buffer, const BlockPlace& block, int source, int way = 0);
  void send(const void* buffer, const BlockPlace& block, int destination, int way = 0);
  /// Copies a block from this rank to itself.
  void keep(const void* buffer, const BlockPlace& block, void* to, const BlockPlace& place, int own_rank);

  [[nodiscard]] bool step(const CallScope& scope) override;
  [[nodiscard]] bool is_owed() const override;

 private:
  [[nodiscard]] bool copy(const void* from, const BlockPlace& block, void* to, const BlockPlace& place);
  /// Returns true when the copy is complete.
  [[nodiscard]] bool step_own_copy(transports::Pull& own_copy);
  void add(int code, Operation operation);

  const CallScope* scope_;
  TagRange tags_;
  std::vector<std::unique_ptr<Waiting>> waiting_;
  std::vector<std::unique_ptr<transports::Pull>> own_copies_;
};

/// The same messages, kept to be posted later.
class MessageSchedule final : public Schedule {
 public:
  void receive(void* buffer, const BlockPlace& block, int source, int way = 0) {
    receives_.push_back({buffer, block, source, way});
  }
  void send(const void* buffer, const BlockPlace& block, int destination, int way = 0) {
    sends_.push_back({buffer, block, destination, way});
  }
  void keep(const void* buffer, const BlockPlace& block, void* to, const BlockPlace& place, int own_rank) {
    kept_.push_back({{buffer, block, own_rank}, {to, place, own_rank}});
  }

  void outlive_the_call() override;
  [[nodiscard]] bool may_begin() const override;
  [[nodiscard]] std::unique_ptr<ScheduleRun> begin(const CallScope& scope, TagRange tags) const override;

 private:
  template <typename Buffer>
  struct Message {
    Buffer buffer;
    BlockPlace block;
    int peer;
    int way = 0;
  };
  struct Kept {
    Message<const void*> from;
    Message<void*> to;
  };
  void hold(BlockPlace& block);

  std::vector<Message<void*>> receives_;
  std::vector<Message<const void*>> sends_;
  std::vector<Kept> kept_;
  std::vector<std::unique_ptr<HeldDatatype>> datatypes_;
};

}  // namespace penstock::interpose
