// The order of the messages on a communicator: counts sends and receives for each pair of ranks and each tag,
// so that a receive and the send that MPI will match with it get the same name. README.md states when that
// holds. Knows no payload.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/node/adverts.hpp"
#include "interpose/posted/message_counts.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

namespace detail {
inline constinit std::atomic<bool> counts_messages{false};
}  // namespace detail

/// Returns true if this process counts its messages (PENSTOCK_POSTED_RECEIVES). Cost: a load.
[[nodiscard]] inline bool counts_messages() noexcept {
  return detail::counts_messages.load(std::memory_order_relaxed);
}
/// Returns true if no message may be posted by a call that blocks. Messages are counted in the order in which
/// the MPI library gets them, and other threads may post at the same time.
[[nodiscard]] bool posts_in_turns() noexcept;
/// Called in MPI_Init, before the first message.
void begin_counting_messages() noexcept;
/// Counts no message from now on: no receive and no send gets a name any more. Thread: any.
void stop_counting_messages() noexcept;

enum class MessageHalf : std::uint8_t { send, receive };

/// The counts of one communicator on this rank. Thread: under its mutex.
class MessageOrder {
 public:
  explicit MessageOrder(std::uint64_t communicator);
  ~MessageOrder();
  MessageOrder(const MessageOrder&) = delete;
  MessageOrder& operator=(const MessageOrder&) = delete;

  [[nodiscard]] MessageCounts& of(MessageHalf half) noexcept {
    return half == MessageHalf::send ? sends_ : receives_;
  }
  void close() noexcept;
  /// Takes the turn; takes none where no two threads are inside MPI at once. Recursive, as an error handler
  /// of the program may send a message inside the MPI library's call.
  [[nodiscard]] std::unique_lock<std::recursive_mutex> take_turn();

 private:
  const std::uint64_t communicator_;  ///< its id
  MessageCounts sends_;
  MessageCounts receives_;
  std::recursive_mutex mutex_;
};

/// The turn of one send or receive that is being posted, from begin() on. No other message on the
/// communicator is posted meanwhile. If posted() is not called, the half is closed. Does nothing where
/// messages are not counted; the cost is then a load.
class PostingTurn {
 public:
  /// `peer` is a rank of the communicator, or a wildcard.
  PostingTurn(MessageHalf half, MPI_Comm communicator, int peer, int tag) noexcept
      : handle_(communicator), peer_(peer), tag_(tag), half_(half) {}
  ~PostingTurn() {
    if (count_ != nullptr) [[unlikely]]
      end();
  }
  PostingTurn(const PostingTurn&) = delete;
  PostingTurn& operator=(const PostingTurn&) = delete;

  /// Waits for other threads' turns, unless it has begun before. Not while anything waits for the GPU.
  /// Errors: std::bad_alloc.
  void begin() {
    if (counts_messages() && !has_begun_) [[unlikely]]
      take();
  }
  /// Returns the name of the message that is being posted, if MPI's rule of order gives it one.
  [[nodiscard]] const std::optional<MessageName>& name() const noexcept { return name_; }
  [[nodiscard]] const std::shared_ptr<CommunicatorInfo>& communicator() const noexcept {
    return communicator_;
  }
  /// Called with the MPI library's code of the post.
  void posted(int code) noexcept {
    if (count_ == nullptr || code != MPI_SUCCESS) return;
    is_posted_ = true;
    ++count_->posted;
  }
  /// The send goes to a posted receive.
  void note_written() noexcept;

 private:
  void take();
  void end() noexcept;

  const MPI_Comm handle_;
  const int peer_;
  const int tag_;
  std::shared_ptr<CommunicatorInfo> communicator_;  ///< null: nothing is counted
  std::unique_lock<std::recursive_mutex> lock_;
  std::optional<MessageName> name_;
  MessageCounts::Count* count_ = nullptr;
  const MessageHalf half_;
  bool has_begun_ = false;
  bool is_posted_ = false;
};

/// Closes the receives of a communicator: called before a matched probe, which takes a message that no
/// receive counts. Thread: any. Cost, where messages are not counted: a load.
void close_receives(MPI_Comm communicator) noexcept;

/// Called for messages that wrappers pass on uncounted, as the MPI library sends or receives them inside of a
/// call. Cost as above.
void note_uncounted(MPI_Comm communicator) noexcept;

/// Returns true if a wrapper has to pass its message on uncounted, and notes it.
[[nodiscard]] inline bool passes_uncounted(const CallScope& scope, MPI_Comm communicator) noexcept {
  if (!scope.stands_aside()) [[likely]]
    return false;
  note_uncounted(communicator);
  return true;
}

/// Cancels a receive, unless its message may be under way: then it completes. Returns the call's code.
int cancel_receive(CommunicatorInfo& communicator, const MessageName& name, MPI_Request& request);

/// Cancels a request of which nothing is known. Where messages are counted, that ends here, and a message
/// that may be under way is not cancelled. Returns the call's code.
int cancel_unknown(MPI_Request* request);

/// Wraps a pending send so that it can be cancelled. It is not cancelled if it, or a later send with the same
/// peer and tag, goes to a posted receive: its own receive is then posted, too.
[[nodiscard]] std::unique_ptr<Pending> cancellable_send(std::unique_ptr<Pending> send,
                                                        std::shared_ptr<CommunicatorInfo> communicator,
                                                        int destination, const MessageName& name);

}  // namespace penstock::interpose
