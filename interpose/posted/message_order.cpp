#include "interpose/posted/message_order.hpp"

#include <new>
#include <unordered_map>
#include <utility>

#include "interpose/calls/quiet_errors.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/posted/posted_counts.hpp"
#include "interpose/posted/shown_receive.hpp"
#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {
namespace {

/// The communicators whose messages are counted, by id. Never destroyed, as communicators may be freed after
/// static destruction has begun.
struct Counted {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, MessageOrder*> by_id;
};
Counted& counted() {
  static auto& all = *new Counted;
  return all;
}

/// Returns null for communicators on which ranks do not name messages alike.
MessageOrder* order_of(CommunicatorInfo& communicator) {
  if (!communicator.id_is_agreed || communicator.is_inter || communicator.size == 1) return nullptr;
  // steps under RequestTable::Lock post them, while others take that lock in their turn
  if (communicator.is_for_collectives && request_table().is_threaded()) return nullptr;
  std::call_once(communicator.order_is_made,
                 [&] { communicator.order = std::make_shared<MessageOrder>(communicator.global_id); });
  return communicator.order.get();
}

/// A send as cancellable_send() describes it.
class CancellableSend final : public Pending {
 public:
  CancellableSend(std::unique_ptr<Pending> send, std::shared_ptr<CommunicatorInfo> communicator,
                  int destination, const MessageName& name)
      : send_(std::move(send)),
        communicator_(std::move(communicator)),
        name_(name),
        destination_(destination) {}

  bool advance(bool arrived, const MPI_Status& status) override { return send_->advance(arrived, status); }
  void fix_status(MPI_Status& status) const override { send_->fix_status(status); }
  int complete(MPI_Status& status, int code) override { return send_->complete(status, code); }
  [[nodiscard]] Progress progress() const override { return send_->progress(); }
  void leaving() override { send_->leaving(); }
  void arrived(const MPI_Status& status) override { send_->arrived(status); }
  void detached() override { send_->detached(); }

  int cancel(MPI_Request& request) override {
    MessageOrder& order = *communicator_->order;
    const auto turn = order.take_turn();
    MessageCounts& sends = order.of(MessageHalf::send);
    if (sends.last_written(destination_, name_.tag) > name_.ordinal) return MPI_SUCCESS;
    sends.close();
    return send_->cancel(request);
  }

 private:
  std::unique_ptr<Pending> send_;
  std::shared_ptr<CommunicatorInfo> communicator_;
  const MessageName name_;
  const int destination_;
};

}  // namespace

bool posts_in_turns() noexcept {
  return counts_messages() && request_table().is_threaded();
}

void begin_counting_messages() noexcept {
  const bool may_count = settings().posted_receives && settings().move && node_directory().is_open();
  detail::counts_messages.store(may_count, std::memory_order_relaxed);
}

void stop_counting_messages() noexcept {
  detail::counts_messages.store(false, std::memory_order_relaxed);
}

/// Two communicators of one id would share names. Each rank of a message on either of them has both, so it is
/// enough that a rank counts on neither.
MessageOrder::MessageOrder(std::uint64_t communicator) : communicator_(communicator) {
  const std::lock_guard lock(counted().mutex);
  const auto [known, is_new] = counted().by_id.try_emplace(communicator, this);
  if (is_new) return;
  close();
  MessageOrder& other = *known->second;
  const auto turn = other.take_turn();
  other.close();
  withdraw_receives_on(communicator);
}

MessageOrder::~MessageOrder() {
  const std::lock_guard lock(counted().mutex);
  const auto known = counted().by_id.find(communicator_);
  if (known != counted().by_id.end() && known->second == this) counted().by_id.erase(known);
}

void MessageOrder::close() noexcept {
  sends_.close();
  receives_.close();
}

std::unique_lock<std::recursive_mutex> MessageOrder::take_turn() {
  if (!request_table().is_threaded()) return {};
  return std::unique_lock(mutex_);
}

void PostingTurn::take() {
  has_begun_ = true;
  if (peer_ == MPI_PROC_NULL) return;
  std::shared_ptr<CommunicatorInfo> communicator = info_of(handle_);
  // memory ran out, or the communicator is none, which the MPI library reports
  if (communicator == nullptr) return stop_counting_messages();
  MessageOrder* const order = order_of(*communicator);
  if (order == nullptr) return;
  lock_ = order->take_turn();
  MessageCounts& counts = order->of(half_);
  if (peer_ == MPI_ANY_SOURCE || tag_ == MPI_ANY_TAG) counts.close();
  count_ = counts.open_count(peer_, tag_);
  if (count_ == nullptr) {
    lock_ = {};
    return;
  }
  const int sender = half_ == MessageHalf::send ? communicator->rank : peer_;
  name_ = MessageName{communicator->global_id, count_->posted, tag_, world_rank_of(*communicator, sender)};
  communicator_ = std::move(communicator);
}

void PostingTurn::end() noexcept {
  if (!is_posted_) communicator_->order->of(half_).close();
}

void PostingTurn::note_written() noexcept {
  if (count_ == nullptr) return;
  count_->written = count_->posted + 1;
  posted_counts.sends_written.fetch_add(1, std::memory_order_relaxed);
}

void close_receives(MPI_Comm communicator) noexcept {
  if (!counts_messages()) [[likely]]
    return;
  try {
    const std::shared_ptr<CommunicatorInfo> info = info_of(communicator);
    if (info == nullptr) return stop_counting_messages();
    if (MessageOrder* const order = order_of(*info)) {
      const auto turn = order->take_turn();
      order->of(MessageHalf::receive).close();
    }
  } catch (const std::bad_alloc&) {
    stop_counting_messages();
  }
}

void note_uncounted(MPI_Comm communicator) noexcept {
  if (!counts_messages()) [[likely]]
    return;
  try {
    // not made here: most such communicators are the MPI library's own
    const std::shared_ptr<CommunicatorInfo> info = known_info(communicator);
    if (info == nullptr) return forget_agreement(communicator);
    if (MessageOrder* const order = order_of(*info)) {
      const auto turn = order->take_turn();
      order->close();
    }
  } catch (const std::bad_alloc&) {
    stop_counting_messages();
  }
}

int cancel_receive(CommunicatorInfo& communicator, const MessageName& name, MPI_Request& request) {
  MessageOrder& order = *communicator.order;
  const auto turn = order.take_turn();
  // the receives that follow would meet other messages than their names say
  order.of(MessageHalf::receive).close();
  return withdraw_receives_from(name) ? PMPI_Cancel(&request) : MPI_SUCCESS;
}

int cancel_unknown(MPI_Request* request) {
  if (!counts_messages()) [[likely]]
    return PMPI_Cancel(request);
  int is_complete = 0;
  {
    const QuietErrors quiet;
    PMPI_Request_get_status(*request, &is_complete, MPI_STATUS_IGNORE);
  }
  if (is_complete != 0) return MPI_SUCCESS;
  stop_counting_messages();
  const bool may_be_under_way = !withdraw_open_receives() || posted_counts.sends_written != 0;
  return may_be_under_way ? MPI_SUCCESS : PMPI_Cancel(request);
}

std::unique_ptr<Pending> cancellable_send(std::unique_ptr<Pending> send,
                                          std::shared_ptr<CommunicatorInfo> communicator, int destination,
                                          const MessageName& name) {
  return std::make_unique<CancellableSend>(std::move(send), std::move(communicator), destination, name);
}

}  // namespace penstock::interpose
