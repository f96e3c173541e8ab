#include "interpose/collectives/deferred/deferred_collectives.hpp"

#include <algorithm>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/deferred/collective_record.hpp"
#include "interpose/collectives/deferred/kept_handles.hpp"
#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/progress/request_table.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/progress/stream_order_wait.hpp"
#include "interpose/progress/user_request.hpp"
#include "interpose/staging/library_call.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/resident_orders.hpp"

namespace penstock::interpose {

/// One call, until its request is complete. It allocates whatever may fail before the ranks agree.
class DeferredCall {
 public:
  /// `most`: this rank's vote.
  DeferredCall(DeferredWork work, Decision most, MPI_Comm messages)
      : since_ns_(transports::time_of_call_ns()),
        most_(most),
        messages_(messages),
        held_messages_(messages),
        handles_kept_(std::move(work.datatypes)),
        mpi_call_(work.mpi_call),
        errors_(work.errors.kept()),
        schedule_(most != Decision::library ? std::move(work.schedule) : nullptr),
        kernel_(std::move(work.kernel)),
        signature_(work.signature),
        staged_(std::make_shared<const StagedCall>(lasting(std::move(work.staged)))),
        written_back_(staged_),
        call_library_(std::move(work.call_library)) {}

  [[nodiscard]] Decision most() const noexcept { return most_; }
  [[nodiscard]] bool agrees() const noexcept { return most_ != Decision::library; }
  [[nodiscard]] std::uint16_t signature() const noexcept { return signature_; }
  /// Returns whether the library's call, if it may come to that, has memory for its stand-ins.
  [[nodiscard]] const Status& status() const noexcept { return staged_->status(); }
  int raise(const Status& status) const { return staged_->raise(status); }

  /// Returns whether begin() would not have to wait for the application's kernels.
  [[nodiscard]] bool may_begin(Decision decision) {
    if (decision == Decision::kernels) return true;
    const transports::AsOfCall as_of_call(since_ns_);
    return stream_order_wait_.is_over(
        [&] { return decision == Decision::messages ? schedule_->may_begin() : staged_->may_fetch_now(); });
  }
  /// Remembers what a buffer's GPU has to do. What the application queues after this call must not delay
  /// copies that a later call makes.
  void look_at_gpu() {
    static_cast<void>(may_begin(agrees() ? Decision::messages : Decision::library));
    written_back_.look_at_gpu();  // others may vote for the library
  }

  /// Begins the call by kernels, in that series.
  void begin(OneShotSeries& series) {
    has_begun_ = is_by_kernels_ = true;
    begin_run([&] { return begin_uncounted(series, *kernel_, since_ns_); });
    is_over_ = !status_.ok();
    handles_kept_.end();
  }
  void begin(const CallScope& scope, Decision decision, TagRange tags) {
    const transports::AsOfCall as_of_call(since_ns_);
    has_begun_ = true;
    if (decision == Decision::messages) {
      tags_ = tags;
      begin_run([&] { return schedule_->begin(scope, tags); });
    } else {
      status_ = staged_->fetch();
      written_back_.look_at_gpu();
      if (status_.ok()) code_ = call_library_(messages_, &request_);
    }
    is_over_ = !status_.ok() || code_ != MPI_SUCCESS;
    handles_kept_.end();
  }
  void prepares_kernels(std::size_t attempt) noexcept { attempt_ = attempt; }
  /// The attempt to prepare kernels that began with this call; none if none did.
  [[nodiscard]] std::optional<std::size_t> attempt() const noexcept { return attempt_; }
  [[nodiscard]] bool is_by_kernels() const noexcept { return is_by_kernels_; }
  [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }

  /// Returns true when the call is complete.
  [[nodiscard]] bool step(const CallScope& scope) {
    if (is_over_ || !has_begun_) return is_over_;
    const transports::AsOfCall as_of_call(since_ns_);
    is_over_ = run_ != nullptr ? run_->step(scope) : has_arrived() && is_written_back();
    return is_over_;
  }
  /// Returns whether ranks exchange data themselves: all have begun, and none needs more of this rank than
  /// steps.
  [[nodiscard]] bool is_exchanging() const noexcept { return run_ != nullptr && !is_over_; }
  [[nodiscard]] const TagRange& tags() const noexcept { return tags_; }

  /// Raises the errors of a completed call. Returns its code.
  int end() {
    if (run_ != nullptr) return raise_errors_of(*run_, errors_, mpi_call_);
    if (!status_.ok()) return raise(status_);
    if (code_ != MPI_SUCCESS) return errors_.raise(code_);
    MPI_Status unused{};
    return staged_->is_staged() ? written_back_.complete(unused, MPI_SUCCESS) : MPI_SUCCESS;
  }
  /// Returns the library's code, before any error was raised.
  [[nodiscard]] int library_code() const noexcept { return code_; }

 private:
  static StagedCall lasting(StagedCall staged) noexcept {
    staged.outlive_the_call();
    return staged;
  }
  template <typename Begin>
  void begin_run(Begin begin_it) try {
    run_ = begin_it();
  } catch (const std::bad_alloc&) {
    status_ = {Code::out_of_memory, "the messages of a collective"};
  }
  [[nodiscard]] bool has_arrived() {
    if (request_ == MPI_REQUEST_NULL) return true;
    int flag = 0;
    code_ = PMPI_Test(&request_, &flag, MPI_STATUS_IGNORE);
    if (code_ != MPI_SUCCESS) request_ = MPI_REQUEST_NULL;
    return flag != 0 || code_ != MPI_SUCCESS;
  }
  [[nodiscard]] bool is_written_back() {
    return code_ != MPI_SUCCESS || !staged_->is_staged() || written_back_.advance(true, MPI_Status{});
  }

  const std::uint64_t since_ns_;
  const Decision most_;
  const MPI_Comm messages_;
  const HeldCommunicator held_messages_;
  HandlesKept handles_kept_;  ///< destroyed with the call, while no lock is held
  const char* const mpi_call_;
  const ErrorTarget errors_;
  const std::unique_ptr<Schedule> schedule_;
  const std::optional<OfferedKernel> kernel_;
  const std::uint16_t signature_;
  const std::shared_ptr<const StagedCall> staged_;
  PendingStagedCall written_back_;
  const std::function<int(MPI_Comm, MPI_Request*)> call_library_;
  StreamOrderWait stream_order_wait_;
  TagRange tags_;
  std::unique_ptr<ScheduleRun> run_;
  MPI_Request request_ = MPI_REQUEST_NULL;  ///< the library's
  int code_ = MPI_SUCCESS;
  Status status_;
  bool has_begun_ = false;
  bool is_by_kernels_ = false;
  std::optional<std::size_t> attempt_;
  bool is_over_ = false;
};

namespace {

/// Returns a range of tags, counted from the last one down.
TagRange tags_of_turn(MPI_Comm messages, std::size_t turn) noexcept {
  return {messages, most_tag_ranges() - 1 - static_cast<int>(turn)};
}
std::size_t turn_of(const TagRange& tags) noexcept {
  return static_cast<std::size_t>(most_tag_ranges() - 1 - tags.number);
}

class PendingDeferredCall final : public Pending {
 public:
  PendingDeferredCall(std::shared_ptr<DeferredCollectives> all, std::shared_ptr<DeferredCall> call) noexcept
      : all_(std::move(all)), call_(std::move(call)) {}

  bool advance(bool, const MPI_Status&) override {
    // this runs within another call, or on a thread of Penstock's own: what it posts is not part of that
    // record
    const CallScope scope(Function::Test, nullptr);
    if (!call_->has_begun()) all_->step(scope);
    if (!call_->step(scope)) return false;
    // first, as later calls may wait for this one's resources, while the preparation waits until other ranks
    // call MPI
    if (!std::exchange(is_noted_, true)) all_->note_end_of(*call_);
    return all_->end_setup_of(*call_);
  }
  int complete(MPI_Status&, int code) override { return code != MPI_SUCCESS ? code : call_->end(); }
  [[nodiscard]] Progress progress() const override {
    if (!call_->has_begun()) return all_->is_leaving() ? Progress::always : Progress::open_ended;
    return call_->is_exchanging() ? Progress::always : Progress::none;
  }
  void leaving() override {
    const CallScope scope(Function::Test, nullptr);
    if (!call_->has_begun()) all_->give_up(scope);
  }

 private:
  const std::shared_ptr<DeferredCollectives> all_;
  const std::shared_ptr<DeferredCall> call_;
  bool is_noted_ = false;  ///< all_ has been notified of its end
};

}  // namespace

DeferredCollectives::DeferredCollectives() = default;
DeferredCollectives::~DeferredCollectives() = default;

void DeferredCollectives::open(Agreement agreement, MPI_Comm messages,
                               const CommunicatorInfo& info) noexcept {
  vote_slot_ = info.vote_slot;
  agreement_ = agreement;
  messages_ = messages;
  has_one_shot_ = info.size <= static_cast<int>(transports::OneShotCollective::most_processes);
  if (!has_one_shot_) return;
  try {
    members_.emplace(info);
  } catch (const std::bad_alloc&) {
    // the others will see that this rank takes no part
  }
}

Decision DeferredCollectives::most_of(const DeferredWork& work) const noexcept {
  if (work.schedule == nullptr) return Decision::library;
  const bool serves = work.kernel && series_ != nullptr && !series_->has_failed() &&
                      series_->collectives() != transports::OneShotCollective::most_collectives &&
                      series_->context() == work.kernel->context &&
                      transports::largest_of(work.kernel->work.parts) <= policy::largest_one_shot_block;
  if (serves) return Decision::kernels;
  return work.is_for_messages ? Decision::messages : Decision::library;
}

/// Begins an attempt to prepare kernels. All ranks do so before they begin the same call, whatever it is and
/// however earlier attempts ended: some ranks may not know that yet. A rank that knows that all took part in
/// one stays away.
void DeferredCollectives::prepare_kernels(std::size_t attempt) noexcept {
  const std::size_t ranks = members_ ? members_->rows.size() : 1;
  const std::size_t bytes = transports::OneShotCollective::memory_for(policy::largest_one_shot_block, ranks);
  const OneShotMembers* const members = members_ && !is_set_up_ ? &*members_ : nullptr;
  setups_[attempt].begin(members, messages_, context_, bytes, SeriesUse::other);
}

/// Completes the attempt that began with this call. The series is that of the first attempt in which all
/// ranks took part. All ranks see that alike, so a vote for kernels always means the same series.
bool DeferredCollectives::end_setup_of(const DeferredCall& call) noexcept {
  if (!call.attempt()) return true;
  OneShotSetup& setup = setups_[*call.attempt()];
  if (!setup.step()) return false;
  ended_attempts_.set(*call.attempt());
  while (!is_set_up_ && tried_ < setups_.size() && ended_attempts_.test(tried_)) {
    is_set_up_ = members_ && setups_[tried_].has_all(members_->rows.size());
    std::unique_ptr<OneShotSeries> made = setups_[tried_].take();
    if (is_set_up_) {
      series_ = std::move(made);
    } else {
      ++tried_;
    }
  }
  for (std::size_t later = tried_ + 1; is_set_up_ && later < setups_.size(); ++later) {
    if (ended_attempts_.test(later)) static_cast<void>(setups_[later].take());  // its memory is not needed
  }
  return true;
}

int DeferredCollectives::post(const CallScope& scope, DeferredWork work, MPI_Request* request) {
  std::shared_ptr<DeferredCall> call;
  {
    const RequestTable::Lock lock(request_table());
    if (work.kernel) {
      context_ = work.kernel->context;
    } else if (context_ == nullptr) {
      context_ = work.blocking_context;
    }
    const Decision most = most_of(work);
    call = std::make_shared<DeferredCall>(std::move(work), most, messages_);
  }
  if (const Status& staged = call->status(); !staged.ok()) return call->raise(staged);
  {
    const RequestTable::Lock lock(request_table());
    post_in_turn(scope, call, request);
    // the library's call failed, which needs a call that began at once, with none waiting before it
    if (call->library_code() == MPI_SUCCESS) return MPI_SUCCESS;
    repeats_ = failed_alone(call->library_code());
  }
  UserRequest refused(request);
  MPI_Status status{};
  static_cast<void>(refused.is_done());
  return refused.complete(status);
}

/// Queues the call. Once the others may know of it, nothing fails on this rank alone.
void DeferredCollectives::post_in_turn(const CallScope& scope, const std::shared_ptr<DeferredCall>& call,
                                       MPI_Request* request) {
  // the others already know of the call, and that the library does it
  const bool is_known = std::exchange(repeats_, false);
  if (!is_known) waiting_.push_back(call);
  try {
    attach({.pending = recorded(scope, std::make_unique<PendingDeferredCall>(shared_from_this(), call))},
           request);
  } catch (const std::bad_alloc&) {
    if (!is_known) waiting_.pop_back();
    repeats_ = is_known;
    throw;
  }
  try {
    if (is_known) return call->begin(scope, Decision::library, {});
    step(scope);
    if (!call->has_begun() || !call->agrees()) call->look_at_gpu();
  } catch (const std::bad_alloc&) {
    // a later step may find more memory
  }
}

void DeferredCollectives::step(const CallScope& scope) {
  do {
    say_and_mark();
  } while (begin_next(scope));
}

void DeferredCollectives::give_up(const CallScope& scope) {
  if (waiting_.empty()) return;
  given_up_ = begun_ + waiting_.size();
  agreement_->give_up(given_up_);
  step(scope);
}

void DeferredCollectives::note_end_of(const DeferredCall& call) noexcept {
  if (call.is_by_kernels()) is_series_busy_ = false;
  if (call.tags().messages != MPI_COMM_NULL) busy_tags_.reset(turn_of(call.tags()));
}

void DeferredCollectives::say_and_mark() noexcept {
  if (!is_open()) return;
  // first, as that may free a word for the next vote
  while (marked_ != begun_ && agreement_->mark_seen(marked_ + 1)) ++marked_;
  said_ = std::max(said_, begun_);
  const std::uint64_t last = begun_ + waiting_.size();
  for (; said_ != last; ++said_) {
    const DeferredCall& call = *waiting_[said_ - begun_];
    if (!agreement_->vote(said_ + 1, call.most(), call.signature())) break;
  }
}

/// Begins the first waiting call, if the ranks have decided. The order is that of the calls, which is that of
/// the library's calls on all ranks. A range of tags is used again only when this rank has no part left in
/// its last use, so that messages of the two never mix.
bool DeferredCollectives::begin_next(const CallScope& scope) {
  if (waiting_.empty()) return false;
  const std::optional<Decision> decision = agreement_->outcome(begun_ + 1);
  if (!decision) return false;
  const std::size_t turn = by_messages_ % busy_tags_.size();
  if (*decision == Decision::messages && busy_tags_.test(turn)) return false;
  if (*decision == Decision::kernels && is_series_busy_) return false;
  if (!waiting_.front()->may_begin(*decision)) return false;
  const std::shared_ptr<DeferredCall> call = std::move(waiting_.front());
  waiting_.pop_front();
  ++begun_;
  const auto* const attempt = std::ranges::find(policy::one_shot_preparations, begun_);
  if (has_one_shot_ && attempt != policy::one_shot_preparations.end()) {
    const auto which = static_cast<std::size_t>(attempt - policy::one_shot_preparations.begin());
    prepare_kernels(which);
    call->prepares_kernels(which);
  }
  if (*decision == Decision::kernels) {
    is_series_busy_ = true;
    call->begin(*series_);
    return true;
  }
  if (*decision == Decision::messages) {
    busy_tags_.set(turn);
    ++by_messages_;
  }
  call->begin(scope, *decision, tags_of_turn(messages_, turn));
  return true;
}

}  // namespace penstock::interpose
