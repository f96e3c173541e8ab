// Keeps the messages of one stream in order: MPI matches messages of one pair and tag in the order of
// posting. When several messages are polled in turn, the GPU work before the first one may complete between
// the poll of the first and that of the second, which must then wait for the next round.
#pragma once

#include <algorithm>
#include <vector>

#include "examples/gmh/library/event.hpp"

namespace gmh {

/// The state of one round of polling, in the order in which the messages were begun.
class PostingOrder {
 public:
  void restart() noexcept { waiting_.clear(); }

  /// Polls the message, unless an earlier one on its stream is not posted yet. Returns whether it is done.
  bool poll(Event& event) {
    const bool waits = !event.is_posted();
    if (waits && std::find(waiting_.begin(), waiting_.end(), event.copies()) != waiting_.end()) return false;
    const bool is_done = event.poll();
    if (!event.is_posted()) waiting_.push_back(event.copies());
    return is_done;
  }

 private:
  std::vector<cudaStream_t> waiting_;  ///< streams with a message that is not posted yet
};

}  // namespace gmh
