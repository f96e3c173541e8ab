#include "interpose/binding/mpi_level.hpp"

#if PENSTOCK_HAS_MPI_4
#include "interpose/collectives/calls/persistent_schedule.hpp"

#include <memory>
#include <new>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/deferred/collective_record.hpp"
#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/collectives/schedules/tag_ranges.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/host/in_call.hpp"

namespace penstock::interpose {
namespace {

/// The parts that both the request and the operation in flight need. Owns the schedule; keeps the
/// communicator of its messages.
struct Parts {
  Parts(std::unique_ptr<Schedule> made, const char* name, MPI_Comm users, TagRange own)
      : schedule(std::move(made)),
        mpi_call(name),
        errors(ErrorTarget::of(users).kept()),
        tags(own),
        held_messages(own.messages),
        taken(peek_info(users)->tag_ranges, own.number) {}
  const std::unique_ptr<Schedule> schedule;
  const char* const mpi_call;
  const ErrorTarget errors;
  const TagRange tags;

 private:
  HeldCommunicator held_messages;
  TakenTags taken;  ///< until no operation of the request is in flight
};

class PendingRun final : public Pending {
 public:
  PendingRun(std::shared_ptr<const Parts> parts, const CallScope& scope) : parts_(std::move(parts)) {
    // Remembers whether a buffer's GPU is idle. What the application queues after the start must not delay
    // messages that a later call posts.
    static_cast<void>(parts_->schedule->may_begin());
    run_ = parts_->schedule->begin(scope, parts_->tags);
  }

  bool advance(bool, const MPI_Status&) override {
    // this runs within another call, or on a thread of Penstock's own: what it posts is not part of that
    // record
    const CallScope scope(Function::Start, nullptr);
    const transports::AsOfCall as_of_call(since_ns_);
    return run_->step(scope);
  }
  int complete(MPI_Status&, int code) override {
    if (code != MPI_SUCCESS) return code;
    return raise_errors_of(*run_, parts_->errors, parts_->mpi_call);
  }
  [[nodiscard]] Progress progress() const override {
    return run_->is_owed() ? Progress::always : Progress::open_ended;
  }

 private:
  const std::uint64_t since_ns_ = transports::time_of_call_ns();
  const std::shared_ptr<const Parts> parts_;
  std::unique_ptr<ScheduleRun> run_;
};

class PersistentSchedule final : public Recipe {
 public:
  explicit PersistentSchedule(std::shared_ptr<const Parts> parts) noexcept : parts_(std::move(parts)) {}
  int start(const CallScope& scope, Operation& operation) override {
    operation.pending = std::make_unique<PendingRun>(parts_, scope);
    return MPI_SUCCESS;
  }
  [[nodiscard]] Posted posts() const noexcept override { return Posted::send; }

 private:
  const std::shared_ptr<const Parts> parts_;
};

/// Number of tag ranges between that of blocking calls and those of non-blocking ones.
int persistent_tags() noexcept {
  return most_tag_ranges() - 1 - TagRange::nonblocking;
}

}  // namespace

bool has_free_tags(MPI_Comm communicator) try {
  CommunicatorInfo* const info = peek_info(communicator);
  if (info == nullptr) return false;
  if (info->tag_ranges == nullptr) info->tag_ranges = std::make_shared<TagRanges>();
  return !info->tag_ranges->is_taken(
      TagRanges::of(info->arrivals.load(std::memory_order_relaxed) + 1, persistent_tags()));
} catch (const std::bad_alloc&) {
  return false;
}

int attach_persistent_schedule(const CallScope& scope, std::unique_ptr<Schedule> schedule,
                               const char* mpi_call, MPI_Comm communicator, MPI_Comm messages,
                               MPI_Request* request) {
  const std::uint32_t ordinal = peek_info(communicator)->arrivals.load(std::memory_order_relaxed);
  const TagRange tags{messages, TagRanges::of(ordinal, persistent_tags())};
  auto recipe = recorded(scope, std::make_unique<PersistentSchedule>(std::make_shared<const Parts>(
                                    std::move(schedule), mpi_call, communicator, tags)));
  // This request stands for the collective, and is never started. A persistent send would not do: MPICH 4.0
  // mishandles a persistent collective for which it reuses the object of a freed persistent send.
  const int code = PMPI_Barrier_init(MPI_COMM_SELF, MPI_INFO_NULL, request);
  if (code == MPI_SUCCESS) attach_persistent(*request, std::move(recipe));
  return code;
}

}  // namespace penstock::interpose
#endif
