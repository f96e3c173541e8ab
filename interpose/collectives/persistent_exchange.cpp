#include <mpi.h>

#if MPI_VERSION >= 4
#include "interpose/collectives/persistent_exchange.hpp"

#include <memory>
#include <new>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/collective_call.hpp"
#include "interpose/collectives/collective_record.hpp"
#include "interpose/collectives/lanes.hpp"
#include "interpose/collectives/message_exchange.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {
namespace {

/// The parts that both the request and the operation in flight need. Owns the plan; keeps the communicator of
/// its messages.
struct Parts {
  Parts(std::unique_ptr<ExchangePlan> made, const char* name, MPI_Comm users, MessageLane own)
      : plan(std::move(made)),
        mpi_call(name),
        errors(ErrorTarget::of(users).kept()),
        lane(own),
        held_messages(own.messages),
        taken(peek_info(users)->lanes, own.number) {}
  const std::unique_ptr<ExchangePlan> plan;
  const char* const mpi_call;
  const ErrorTarget errors;
  const MessageLane lane;

 private:
  HeldCommunicator held_messages;
  TakenLane taken;  ///< until no operation of the request is in flight
};

class PendingExchange final : public Pending {
 public:
  PendingExchange(std::shared_ptr<const Parts> parts, const CallScope& scope) : parts_(std::move(parts)) {
    // Remembers whether a buffer's GPU is idle. What the application queues after the start must not delay
    // messages that a later call posts.
    static_cast<void>(parts_->plan->may_begin());
    const record::OwnWork own;
    exchange_ = parts_->plan->begin(scope, parts_->lane);
  }

  bool advance(bool, const MPI_Status&) override {
    // this runs within another call, or on a thread of Penstock's own: what it posts is not part of that
    // record
    const CallScope scope(Function::Start, nullptr);
    const transports::AsOfCall as_of_call(since_ns_);
    const record::OwnWork own;
    return exchange_->step(scope);
  }
  int complete(MPI_Status&, int code) override {
    if (code != MPI_SUCCESS) return code;
    return raise_errors_of(*exchange_, parts_->errors, parts_->mpi_call);
  }
  [[nodiscard]] Progress progress() const override {
    return exchange_->is_owed() ? Progress::always : Progress::open_ended;
  }

 private:
  const std::uint64_t since_ns_ = transports::time_of_call_ns();
  const std::shared_ptr<const Parts> parts_;
  std::unique_ptr<Exchange> exchange_;
};

class PersistentExchange final : public Recipe {
 public:
  explicit PersistentExchange(std::shared_ptr<const Parts> parts) noexcept : parts_(std::move(parts)) {}
  int start(const CallScope& scope, Operation& operation) override {
    operation.pending = std::make_unique<PendingExchange>(parts_, scope);
    return MPI_SUCCESS;
  }
  [[nodiscard]] Posted posts() const noexcept override { return Posted::send; }

 private:
  const std::shared_ptr<const Parts> parts_;
};

/// Number of lanes between that of blocking calls and those of non-blocking ones.
int persistent_lanes() noexcept {
  return most_lanes() - 1 - MessageLane::nonblocking;
}

}  // namespace

bool has_free_lane(MPI_Comm communicator) try {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return false;
  if (info->lanes == nullptr) info->lanes = std::make_shared<Lanes>();
  return !info->lanes->is_taken(
      Lanes::of(info->arrivals.load(std::memory_order_relaxed) + 1, persistent_lanes()));
} catch (const std::bad_alloc&) {
  return false;
}

int attach_exchange(const CallScope& scope, std::unique_ptr<ExchangePlan> plan, const char* mpi_call,
                    MPI_Comm communicator, MPI_Comm messages, MPI_Request* request) {
  const std::uint32_t ordinal = peek_info(communicator)->arrivals.load(std::memory_order_relaxed);
  const MessageLane lane{messages, Lanes::of(ordinal, persistent_lanes())};
  plan->outlive_the_call();
  auto recipe = recorded(scope, std::make_unique<PersistentExchange>(std::make_shared<const Parts>(
                                    std::move(plan), mpi_call, communicator, lane)));
  // This request stands for the collective, and is never started. A persistent send would not do: MPICH 4.0
  // mishandles a persistent collective for which it reuses the object of a freed persistent send.
  const int code = PMPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, request);
  if (code == MPI_SUCCESS) attach_persistent(*request, std::move(recipe));
  return code;
}

}  // namespace penstock::interpose
#endif
