// One call of a collective, and this rank's part in it. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/agreement/collective_arrival.hpp"
#include "interpose/collectives/agreement/message_communicators.hpp"
#include "interpose/collectives/calls/collective_buffers.hpp"
#include "interpose/collectives/deferred/collective_record.hpp"
#include "interpose/collectives/deferred/deferred_collectives.hpp"
#include "interpose/collectives/kernels/one_shot_collectives.hpp"
#include "interpose/collectives/schedules/message_schedule.hpp"
#include "interpose/node/gpu_in_sight.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/staging/library_call.hpp"
#include "transports/host/in_call.hpp"
#include "transports/machine.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {

inline constexpr int no_root = -1;

/// This rank's part. A value.
class Ranks {
 public:
  explicit Ranks(MPI_Comm communicator) noexcept {
    const CommunicatorInfo* const info = peek_info(communicator);
    if (info == nullptr) return;  // the MPI library will report the error
    rank = info->rank;
    local = info->size;
    peers = static_cast<int>(info->world_ranks.size());
    is_inter_ = info->is_inter;
  }

  /// Returns whether this rank has the data of all ranks, or for all.
  [[nodiscard]] bool is_root(int root) const noexcept { return is_inter_ ? root == MPI_ROOT : root == rank; }
  /// Returns whether this rank has data of its own: every rank, but in an intercommunicator only those of the
  /// group that is not the root's.
  [[nodiscard]] bool is_leaf(int root) const noexcept { return !is_inter_ || root >= 0; }

  /// For an intracommunicator.
  template <typename Function>
  void for_others(Function function) const {
    interpose::for_others(rank, peers, function);
  }
  [[nodiscard]] bool is_intra() const noexcept { return rank >= 0 && !is_inter_; }
  [[nodiscard]] bool has_root(int root) const noexcept { return !is_inter_ && root >= 0 && root < peers; }

  int rank = -1;
  int local = 0;  ///< size of the own group
  int peers = 0;  ///< ranks to exchange data with: all, or the remote group of an intercommunicator

 private:
  bool is_inter_ = false;
};

/// The form of a call by what follows its arguments: a request, or an info and a request, or nothing.
template <typename... Following>
inline constexpr bool is_nonblocking_form = sizeof...(Following) == 1;
template <typename... Following>
inline constexpr bool is_blocking_form = sizeof...(Following) == 0;

/// Result of trying messages or kernels. If `code` is set, the call is complete. Otherwise run() calls the
/// library or defers, using the other fields. A value.
struct CallOutcome {
  std::optional<int> code;                  ///< of the completed call
  bool has_arrived = false;                 ///< the other ranks know of this rank's arrival
  const char* why_library = nullptr;        ///< why the MPI library does it, if it does; null: it always does
  DeferredCollectives* deferred = nullptr;  ///< set: the call is deferred
  std::unique_ptr<Schedule> schedule;  ///< of a deferred call, if this rank votes for messages or kernels
  bool is_for_messages = false;        ///< false: only for kernels
  std::optional<OfferedKernel> kernel;
  std::uint16_t signature = 0;
  std::vector<MPI_Datatype> datatypes;                  ///< those of a deferred call's arguments
  std::vector<std::shared_ptr<MPI_Datatype[]>> arrays;  ///< copies of its arrays of datatypes

  /// Adds the datatypes of arguments, or of Blocks. Call it before run().
  template <typename... Used>
  void uses(const Used&... used) {
    if (deferred != nullptr) (add(used), ...);
  }
  /// Makes `array` a copy that lasts as long as a deferred call. A binding for Fortran converts the program's
  /// array of datatypes into one of its own, which ends with the binding's call.
  void keep(const MPI_Datatype*& array, int count) {
    if (deferred == nullptr) return;
    const auto& copy = arrays.emplace_back(std::make_shared<MPI_Datatype[]>(static_cast<std::size_t>(count)));
    std::copy_n(array, count, copy.get());
    array = copy.get();
  }

 private:
  void add(MPI_Datatype datatype) {
    if (datatypes.empty() || datatypes.back() != datatype) datatypes.push_back(datatype);
  }
  template <typename BlocksThere>
  void add(const BlocksThere& blocks) {
    for (int i = 0; i < blocks.count(); ++i) add(blocks.at(i).datatype);
  }
};

template <typename Library>
class CollectiveCall : public LibraryCall<Library> {
 public:
  using LibraryCall<Library>::LibraryCall;

  /// Begins the call. `payload` returns this rank's bytes; called only when recording.
  template <typename Payload>
  [[nodiscard]] StagedCall begin(MPI_Comm communicator, int root, Payload payload) const {
    if (this->scope().recording()) this->scope().collective(communicator, root, payload());
    return LibraryCall<Library>::begin(ErrorTarget::of(communicator));
  }

  /// Carries out the call by messages, if all ranks vote for it: `post` posts this rank's, to a
  /// MessageRun or a MessageSchedule. Non-blocking calls (with a `request`) are always left to run().
  template <typename Post, typename... Request>
  [[nodiscard]] CallOutcome by_messages(MPI_Comm communicator, const CollectiveBuffers& buffers, Post post,
                                        Request...) const {
    if constexpr (is_nonblocking_form<Request...>) {
      return defer(communicator, buffers, [&] {
        auto schedule = std::make_unique<MessageSchedule>();
        post(*schedule);
        return schedule;
      });
    } else {
      return instead_of_library(communicator, buffers, [&](TagRange tags) {
        auto run = std::make_unique<MessageRun>(this->scope(), tags);
        post(*run);
        return run;
      });
    }
  }

  /// The same with a schedule: `make_schedule` returns a Schedule, as a value.
  template <typename MakeSchedule, typename... Request>
  [[nodiscard]] CallOutcome by_schedule(MPI_Comm communicator, const CollectiveBuffers& buffers,
                                        MakeSchedule make_schedule, Request...) const {
    using Steps = std::invoke_result_t<MakeSchedule>;
    if constexpr (is_nonblocking_form<Request...>) {
      return defer(communicator, buffers, [&] { return std::make_unique<Steps>(make_schedule()); });
    } else {
      std::optional<Steps> schedule;
      return instead_of_library(communicator, buffers, [&](TagRange tags) {
        return schedule.emplace(make_schedule()).begin(this->scope(), tags);
      });
    }
  }

  /// Calls the MPI library, or defers the call.
  template <typename... Arguments>
  int run(CallOutcome outcome, StagedCall staged, MPI_Comm communicator, Arguments... arguments) const {
    report_why(outcome, staged);
    if constexpr (LibraryCall<Library>::template is_nonblocking<Arguments...>) {
      look_out_for_envelopes();
      if (outcome.deferred != nullptr)
        return run_deferred(std::move(outcome), std::move(staged), communicator, arguments...);
      return this->run_with(
          [this](std::unique_ptr<Pending> pending) { return recorded(this->scope(), std::move(pending)); },
          std::move(staged), arguments...);
    } else {
      if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
      return staged.finish(meet_and_call(outcome, communicator, arguments...));
    }
  }

 protected:
  static void report_why(const CallOutcome& outcome, StagedCall& staged) noexcept {
    if (outcome.why_library != nullptr) staged.because(outcome.why_library);
  }

  /// Calls the library's function, after the other ranks have arrived if this rank has to wait for them.
  template <typename... Arguments>
  int meet_and_call(const CallOutcome& outcome, MPI_Comm communicator, Arguments... arguments) const {
    look_out_for_envelopes();
    if (!outcome.has_arrived) arrive(communicator);
    const int code = this->as_it_is(arguments...);
    if (failed_alone(code)) take_back_arrival(communicator);
    return code;
  }

  /// The decision of all ranks.
  struct CallDecision {
    TagRange tags;            ///< of blocking calls; without a communicator: the library's call
    bool by_kernels = false;  ///< instead of messages
  };
  /// Votes with the other ranks. `prepare_kernels(the kernel offered)` is called if all ranks vote for
  /// kernels. It returns whether kernels will do it: the same on all ranks.
  template <typename PrepareKernels>
  [[nodiscard]] CallDecision agree(MPI_Comm communicator, const CollectiveBuffers& buffers,
                                   PrepareKernels prepare_kernels) const {
    look_out_for_envelopes();
    const Decision decision = arrive(communicator, buffers.proposal());
    if (decision == Decision::library) return {};
    CallDecision call{{messages_of(communicator)}};
    if (call.tags.messages == MPI_COMM_NULL) return {};
    call.by_kernels = decision == Decision::kernels && prepare_kernels(*buffers.kernel());
    // the same on all ranks, as all have voted for kernels
    if (decision == Decision::kernels && !call.by_kernels && buffers.library_is_faster()) return {};
    buffers.record_kind(this->scope());
    return call;
  }

 private:
  /// Looks out for envelopes if a GPU is in sight. Programs that go on to use GPU buffers have most often
  /// made a collective call after their first use of CUDA.
  static void look_out_for_envelopes() { expect_envelopes_if(is_gpu_in_sight()); }

  /// Waits for what the application has queued for that buffer, before any rank's kernel waits for this
  /// rank's. Returns false after a time limit: a stream with ever more work is never seen idle; a copy would
  /// find its turn there.
  static bool await_earlier_work(const transports::Buffer& buffer) {
    const transports::BufferView view{buffer, {}, transports::time_of_call_ns()};
    if (transports::is_idle(view)) return true;
    const std::uint64_t begin_ns = transports::steady_now_ns();
    for (Backoff backoff; !transports::is_idle(view); backoff.pause()) {
      if (transports::steady_now_ns() - begin_ns > policy::stream_order_limit_ns) return false;
      progress();
    }
    return true;
  }

  /// Carries out the call by the ScheduleRun that `begin(tags)` returns, or by kernels. Returns it when it is
  /// complete; null: the call is the library's. What it queues on a GPU is not the program's work.
  template <typename Begin>
  [[nodiscard]] std::unique_ptr<ScheduleRun> carry_out(MPI_Comm communicator, CollectiveBuffers buffers,
                                                       Begin begin) const {
    const bool offers_kernel = buffers.vote() == Vote::kernels;
    if (offers_kernel && !await_earlier_work(buffers.kernel()->own)) buffers.withdraw_kernel();
    const CallDecision decision = agree(communicator, buffers, [&](const OfferedKernel& kernel) {
      return peek_info(communicator)->one_shot->prepare(communicator, kernel.context);
    });
    if (decision.tags.messages == MPI_COMM_NULL) return nullptr;
    std::unique_ptr<ScheduleRun> run = decision.by_kernels
                                           ? peek_info(communicator)->one_shot->begin(buffers.kernel()->work)
                                           : std::unique_ptr<ScheduleRun>(begin(decision.tags));
    for (Backoff backoff; !run->step(this->scope()); backoff.pause()) progress();
    return run;
  }

  template <typename Begin>
  [[nodiscard]] CallOutcome instead_of_library(MPI_Comm communicator, const CollectiveBuffers& buffers,
                                               Begin begin) const {
    CallOutcome outcome;
    outcome.has_arrived = true;
    outcome.why_library = buffers.why_library();
    const std::unique_ptr<ScheduleRun> run = carry_out(communicator, buffers, begin);
    if (run == nullptr) return outcome;
    outcome.code = raise_errors_of(*run, ErrorTarget::of(communicator), this->name());
    return outcome;
  }

  /// Prepares a deferred call. All ranks of the communicator do so in the same calls, whatever their
  /// arguments. `make_schedule()` returns this rank's schedule. With a buffer in host memory the library is
  /// better, as it begins at once.
  template <typename MakeSchedule>
  [[nodiscard]] CallOutcome defer(MPI_Comm communicator, CollectiveBuffers buffers,
                                  MakeSchedule make_schedule) const {
    CallOutcome outcome;
    CommunicatorInfo* const info = peek_info(communicator);
    if (info == nullptr) return outcome;
    if (buffers.vote() == Vote::kernels) outcome.kernel = buffers.kernel();
    buffers.withdraw_kernel();
    outcome.why_library = buffers.why_library();
    outcome.is_for_messages =
        buffers.vote() == Vote::messages || (buffers.vote() == Vote::any && !buffers.have_host_bytes());
    if (info->deferred == nullptr || !info->deferred->is_open() || !take_into_use(*info)) {
      if (outcome.kernel || buffers.vote() == Vote::messages) {
        request_deferral(*info);
        outcome.why_library =
            "non-blocking, and no blocking collective on this communicator has prepared for it";
      }
      return outcome;
    }
    outcome.deferred = info->deferred.get();
    if (!outcome.is_for_messages && !outcome.kernel) return outcome;
    try {
      auto schedule = make_schedule();
      schedule->outlive_the_call();
      outcome.schedule = std::move(schedule);
      outcome.signature = buffers.proposal().signature();
      buffers.record_kind(this->scope());
    } catch (const std::bad_alloc&) {
      // the library may still find memory
    }
    return outcome;
  }

  /// `arguments` end with the communicator and the request, as those of all non-blocking collectives do.
  template <typename... Arguments>
  int run_deferred(CallOutcome outcome, StagedCall staged, MPI_Comm communicator,
                   Arguments... arguments) const {
    constexpr std::size_t others = sizeof...(Arguments) - 2;
    const auto all = std::make_tuple(arguments...);
    const auto call_library = [&]<std::size_t... index>(std::index_sequence<index...>) {
      return [library = this->library(), all, arrays = std::move(outcome.arrays)](MPI_Comm messages,
                                                                                  MPI_Request* request) {
        static_cast<void>(all);  // empty if there are no others
        return library(std::get<index>(all)..., messages, request);
      };
    };
    const auto& one_shot = peek_info(communicator)->one_shot;
    return outcome.deferred->post(
        this->scope(),
        {this->name(), ErrorTarget::of(communicator), std::move(outcome.schedule), outcome.is_for_messages,
         std::move(outcome.kernel), one_shot != nullptr ? one_shot->context() : nullptr, outcome.signature,
         std::move(staged), std::move(outcome.datatypes), call_library(std::make_index_sequence<others>())},
        std::get<others + 1>(all));
  }
};

template <typename Library>
CollectiveCall(CallScope&, Function, Library) -> CollectiveCall<Library>;

}  // namespace penstock::interpose
