#include "interpose/partitioned/partitioned_message.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <utility>

#include "interpose/binding/mpi_details.hpp"
#include "interpose/messages/message_record.hpp"
#include "interpose/progress/request_table.hpp"
#include "transports/host/in_call.hpp"

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
    if (arrived) arrival_ = status;
    return arrived && message_->deliver_rest(status_);
  }
  /// MPICH 4.0 tells another source of nobody's messages. MPICH 4.2 tells a request's status only once: to
  /// the call that asks whether it is complete; the one that then completes it gets an empty one.
  void fix_status(MPI_Status& status) const override {
    if (message_->sends()) return;
    if (message_->peer().rank == MPI_PROC_NULL) {
      copy_without_error(empty_status(MPI_PROC_NULL), status);
    } else if (status.MPI_SOURCE == MPI_ANY_SOURCE) {
      copy_without_error(arrival_, status);
    }
  }
  int complete(MPI_Status& status, int code) override {
    if (message_->sends()) {
      record_.complete();
    } else {
      record_.complete(status);
    }
    return code != MPI_SUCCESS || status_.ok() ? code : message_->raise(message_->name(), status_);
  }

 private:
  std::shared_ptr<PartitionedMessage> message_;
  MessageRecord record_;
  MPI_Status arrival_ = empty_status();
  Status status_;
};

class PartitionedRecipe final : public Recipe {
 public:
  PartitionedRecipe(MPI_Request request, std::shared_ptr<PartitionedMessage> message)
      : request_(request), message_(std::move(message)) {}

  int start(const CallScope& scope, Operation& operation) override {
    message_->begin();
    auto pending = std::make_unique<PendingPartitions>(message_, scope);
    const int code = PMPI_Start(&request_);
    if (code == MPI_SUCCESS)
      operation = {.request = request_, .pending = std::move(pending), .is_persistent = true};
    return code;
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

PartitionedMessage::PartitionedMessage(const PartitionedArgument& argument, const PartitionedPeer& peer)
    : argument_(argument),
      peer_(peer),
      info_(info_of(peer.communicator)),
      errors_(ErrorTarget::of(peer.communicator).kept()),
      bytes_(payload_bytes(argument.count, argument.datatype) *
             static_cast<std::uint64_t>(std::max(argument.partitions, 0))) {}

const char* PartitionedMessage::name() const noexcept {
  return sends() ? "MPI_Psend_init" : "MPI_Precv_init";
}

void PartitionedMessage::begin() {
  if (!buffer_.is_staged() || sends()) return;
  since_ns_ = transports::time_of_call_ns();
  stream_order_wait_ = {};
  not_delivered_.resize(static_cast<std::size_t>(argument_.partitions));
  std::iota(not_delivered_.begin(), not_delivered_.end(), 0);
  // copies need not wait for what is queued later
  static_cast<void>(
      stream_order_wait_.is_over([&] { return buffer_.is_idle(buffer_.bytes_of(not_delivered_)); }));
}

Status PartitionedMessage::fetch(std::span<const int> partitions) const {
  return buffer_.is_staged() ? buffer_.fetch(buffer_.bytes_of(partitions)) : Status();
}

bool PartitionedMessage::deliver(std::span<const int> partitions, Status& status) {
  try {
    const transports::AsOfCall as_of_call(since_ns_);
    const transports::Layout bytes = buffer_.bytes_of(partitions);
    if (!stream_order_wait_.is_over([&] { return buffer_.is_idle(bytes); })) return false;
    status = buffer_.write_back(bytes);
  } catch (const std::bad_alloc&) {
    status = {Code::out_of_memory, "staging"};
  }
  return true;
}

bool PartitionedMessage::deliver(int partition, Status& status) {
  const auto found = std::ranges::lower_bound(not_delivered_, partition);
  if (found == not_delivered_.end() || *found != partition) return true;
  if (!deliver(std::array{partition}, status) || !status.ok()) return false;
  not_delivered_.erase(found);
  return true;
}

bool PartitionedMessage::deliver_rest(Status& status) {
  if (not_delivered_.empty()) return true;
  if (!deliver(std::span<const int>(not_delivered_), status)) return false;
  not_delivered_.clear();
  return true;
}

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
