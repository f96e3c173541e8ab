#include "interpose/binding/mpi_level.hpp"

#if PENSTOCK_HAS_MPI_4
#include "interpose/partitioned/partitioned_request.hpp"

#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {
namespace {

/// One operation, from MPI_Start to its completion.
class PendingPartitions final : public Pending {
 public:
  PendingPartitions(std::shared_ptr<PartitionedMessage> message, const CallScope& scope)
      : message_(std::move(message)) {
    const PartitionedPeer& peer = message_->peer();
    record_.begin(scope, peer.direction, message_->communicator(), peer.rank, peer.tag, message_->bytes(),
                  message_->buffer().kind(), false);
  }

  bool advance(bool arrived, const MPI_Status& status) override {
    if (message_->is_librarys()) {
      if (arrived) arrival_ = status;
      return arrived && message_->deliver_rest(status_);
    }
    step_ = message_->step(status_);
    if (step_.is_over) arrival_ = step_.arrival;
    return step_.is_over;
  }
  /// MPICH 4.0 tells another source of nobody's messages. MPICH 4.2 tells a request's status only once: to
  /// the call that asks whether it is complete; the one that then completes it gets an empty one.
  void fix_status(MPI_Status& status) const override {
    if (message_->sends()) return;
    if (message_->peer().rank == MPI_PROC_NULL) {
      copy_without_error(empty_status(MPI_PROC_NULL), status);
    } else if (!message_->is_librarys() || status.MPI_SOURCE == MPI_ANY_SOURCE) {
      copy_without_error(arrival_, status);
    }
  }
  int complete(MPI_Status& status, int code) override {
    if (step_.is_direct) {
      record_.set_key(message_->key());
      if (!message_->sends()) message_->record_copies(status_);
    }
    if (message_->sends()) {
      record_.complete();
    } else {
      record_.complete(status);
    }
    if (code != MPI_SUCCESS) return code;
    if (!status_.ok()) return message_->raise(message_->name(), status_);
    return step_.code == MPI_SUCCESS ? MPI_SUCCESS : message_->raise(step_.code);
  }
  [[nodiscard]] Progress progress() const override {
    return !message_->is_librarys() && message_->needs_steps() ? Progress::open_ended : Progress::none;
  }

 private:
  std::shared_ptr<PartitionedMessage> message_;
  MessageRecord record_;
  MPI_Status arrival_ = empty_status();
  Status status_;
  PartitionedMessage::Step step_;
};

class PartitionedRecipe final : public Recipe {
 public:
  PartitionedRecipe(MPI_Request request, std::shared_ptr<PartitionedMessage> message)
      : request_(request), message_(std::move(message)) {}

  int start(const CallScope& scope, Operation& operation) override {
    message_->begin();
    auto pending = std::make_unique<PendingPartitions>(message_, scope);
    const int code = message_->is_librarys() ? PMPI_Start(&request_) : MPI_SUCCESS;
    if (code != MPI_SUCCESS) return code;
    // without a request of its own, the operation ends when its steps say so
    operation = {.request = message_->is_librarys() ? request_ : MPI_REQUEST_NULL,
                 .pending = std::move(pending),
                 .is_persistent = true};
    return MPI_SUCCESS;
  }
  [[nodiscard]] Posted posts() const noexcept override {
    return message_->sends() ? Posted::send : Posted::receive;
  }
  [[nodiscard]] const std::shared_ptr<PartitionedMessage>& message() const noexcept { return message_; }

 private:
  MPI_Request request_;  ///< the user's handle and the MPI library's
  std::shared_ptr<PartitionedMessage> message_;
};

}  // namespace

void attach_message(MPI_Request request, std::shared_ptr<PartitionedMessage> message) {
  attach_persistent(request, std::make_unique<PartitionedRecipe>(request, std::move(message)));
}

FoundMessage find_message(MPI_Request request) {
  if (request_table().is_empty() || request == MPI_REQUEST_NULL) return {};
  const RequestTable::Lock lock(request_table());
  const RequestEntry* const entry = request_table().find(request);
  if (entry == nullptr) return {};
  const auto* const recipe = dynamic_cast<const PartitionedRecipe*>(entry->recipe.get());
  if (recipe == nullptr) return {};
  return {recipe->message(), entry->active};
}

}  // namespace penstock::interpose
#endif
