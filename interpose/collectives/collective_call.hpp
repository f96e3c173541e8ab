// One call of a collective, and this rank's part in it. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/brought_buffers.hpp"
#include "interpose/collectives/collective_arrival.hpp"
#include "interpose/collectives/collective_record.hpp"
#include "interpose/collectives/deferred_collectives.hpp"
#include "interpose/collectives/fused_collectives.hpp"
#include "interpose/collectives/message_exchange.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/host_receives.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
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
struct Attempt {
  std::optional<int> code;                  ///< of the completed call
  bool has_arrived = false;                 ///< the other ranks know of this rank's arrival
  const char* why_library = nullptr;        ///< why the MPI library does it, if it does; null: it always does
  DeferredCollectives* deferred = nullptr;  ///< set: the call is deferred
  std::unique_ptr<ExchangePlan> plan;  ///< of a deferred call, if this rank votes for messages or kernels
  bool is_for_messages = false;        ///< false: only for kernels
  std::optional<OfferedKernel> kernel;
  std::uint16_t signature = 0;
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
  /// MessageExchange or a MessagePlan. Non-blocking calls (with a `request`) are always left to run().
  template <typename Post, typename... Request>
  [[nodiscard]] Attempt by_messages(MPI_Comm communicator, const BroughtBuffers& buffers, Post post,
                                    Request...) const {
    if constexpr (is_nonblocking_form<Request...>) {
      return defer(communicator, buffers, [&] {
        auto plan = std::make_unique<MessagePlan>();
        post(*plan);
        return plan;
      });
    } else {
      return instead_of_library(communicator, buffers, [&](MessageLane lane) {
        auto exchange = std::make_unique<MessageExchange>(this->scope(), lane);
        post(*exchange);
        return exchange;
      });
    }
  }

  /// The same with a plan: `make_plan` returns an ExchangePlan, as a value.
  template <typename MakePlan, typename... Request>
  [[nodiscard]] Attempt by_plan(MPI_Comm communicator, const BroughtBuffers& buffers, MakePlan make_plan,
                                Request...) const {
    using Plan = std::invoke_result_t<MakePlan>;
    if constexpr (is_nonblocking_form<Request...>) {
      return defer(communicator, buffers, [&] { return std::make_unique<Plan>(make_plan()); });
    } else {
      std::optional<Plan> plan;
      return instead_of_library(communicator, buffers, [&](MessageLane lane) {
        return plan.emplace(make_plan()).begin(this->scope(), lane);
      });
    }
  }

  /// Calls the MPI library, or defers the call.
  template <typename... Arguments>
  int run(Attempt attempt, StagedCall staged, MPI_Comm communicator, Arguments... arguments) const {
    say_why(attempt, staged);
    if constexpr (LibraryCall<Library>::template is_nonblocking<Arguments...>) {
      look_out_for_envelopes();
      if (attempt.deferred != nullptr)
        return run_deferred(std::move(attempt), std::move(staged), communicator, arguments...);
      return this->run_with(
          [this](std::unique_ptr<Pending> pending) { return recorded(this->scope(), std::move(pending)); },
          std::move(staged), arguments...);
    } else {
      if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
      return staged.finish(meet_and_call(attempt, communicator, arguments...));
    }
  }

 protected:
  static void say_why(const Attempt& attempt, StagedCall& staged) noexcept {
    if (attempt.why_library != nullptr) staged.because(attempt.why_library);
  }

  /// Calls the library's function, after the other ranks have arrived if this rank has to wait for them.
  template <typename... Arguments>
  int meet_and_call(const Attempt& attempt, MPI_Comm communicator, Arguments... arguments) const {
    look_out_for_envelopes();
    if (!attempt.has_arrived) arrive(communicator);
    const int code = this->as_it_is(arguments...);
    if (failed_alone(code)) take_back_arrival(communicator);
    return code;
  }

  /// The decision of all ranks.
  struct Agreed {
    MessageLane lane;         ///< of blocking calls; without a communicator: the library's call
    bool by_kernels = false;  ///< instead of messages
  };
  /// Votes with the other ranks. `prepare_kernels(the kernel offered)` is called if all ranks vote for
  /// kernels. It returns whether kernels will do it: the same on all ranks.
  template <typename PrepareKernels>
  [[nodiscard]] Agreed agree(MPI_Comm communicator, const BroughtBuffers& buffers,
                             PrepareKernels prepare_kernels) const {
    look_out_for_envelopes();
    const Way way = arrive(communicator, buffers.wish());
    if (way == Way::library) return {};
    Agreed agreed{{messages_of(communicator)}};
    if (agreed.lane.messages == MPI_COMM_NULL) return {};
    agreed.by_kernels = way == Way::kernels && prepare_kernels(*buffers.kernel());
    // the same on all ranks, as all have voted for kernels
    if (way == Way::kernels && !agreed.by_kernels && buffers.are_little()) return {};
    buffers.describe(this->scope());
    return agreed;
  }

 private:
  /// Looks out for envelopes if a GPU is in sight. Programs that go on to use GPU buffers have most often
  /// made a collective call after their first use of CUDA.
  static void look_out_for_envelopes() { expect_envelopes_if(is_gpu_in_sight()); }

  /// Waits for what the application has queued for that buffer, before any rank's kernel waits for this
  /// rank's. Returns false after a time limit: a stream with ever more work is never seen idle; a copy would
  /// find its turn there.
  static bool await_earlier_work(const transports::Buffer& buffer) {
    const transports::Place place{buffer, {}, transports::time_of_call_ns()};
    if (transports::is_idle(place)) return true;
    const std::uint64_t begin_ns = transports::steady_now_ns();
    for (Backoff backoff; !transports::is_idle(place); backoff.pause()) {
      if (transports::steady_now_ns() - begin_ns > policy::stream_order_limit_ns) return false;
      progress();
    }
    return true;
  }

  /// Carries out the call by the Exchange that `begin(lane)` returns, or by kernels. Returns it when it is
  /// complete; null: the call is the library's. What it queues on a GPU is not the program's work.
  template <typename Begin>
  [[nodiscard]] std::unique_ptr<Exchange> carry_out(MPI_Comm communicator, BroughtBuffers buffers,
                                                    Begin begin) const {
    const record::OwnWork own;
    const bool offers_kernel = buffers.preference() == Preference::kernels;
    if (offers_kernel && !await_earlier_work(buffers.kernel()->own)) buffers.withdraw_kernel();
    const Agreed agreed = agree(communicator, buffers, [&](const OfferedKernel& kernel) {
      return peek_info(communicator)->fused->prepare(communicator, kernel.context);
    });
    if (agreed.lane.messages == MPI_COMM_NULL) return nullptr;
    std::unique_ptr<Exchange> exchange = agreed.by_kernels
                                             ? peek_info(communicator)->fused->begin(buffers.kernel()->work)
                                             : std::unique_ptr<Exchange>(begin(agreed.lane));
    for (Backoff backoff; !exchange->step(this->scope()); backoff.pause()) progress();
    return exchange;
  }

  template <typename Begin>
  [[nodiscard]] Attempt instead_of_library(MPI_Comm communicator, const BroughtBuffers& buffers,
                                           Begin begin) const {
    Attempt attempt;
    attempt.has_arrived = true;
    attempt.why_library = buffers.why_library();
    const std::unique_ptr<Exchange> exchange = carry_out(communicator, buffers, begin);
    if (exchange == nullptr) return attempt;
    attempt.code = raise_errors_of(*exchange, ErrorTarget::of(communicator), this->name());
    return attempt;
  }

  /// Prepares a deferred call. All ranks of the communicator do so in the same calls, whatever their
  /// arguments. `make_plan()` returns this rank's plan. With a buffer in host memory the library is better,
  /// as it begins at once.
  template <typename MakePlan>
  [[nodiscard]] Attempt defer(MPI_Comm communicator, BroughtBuffers buffers, MakePlan make_plan) const {
    Attempt attempt;
    CommunicatorInfo* const info = peek_info(communicator);
    if (info == nullptr) return attempt;
    if (buffers.preference() == Preference::kernels) attempt.kernel = buffers.kernel();
    buffers.withdraw_kernel();
    attempt.why_library = buffers.why_library();
    attempt.is_for_messages = buffers.preference() == Preference::messages ||
                              (buffers.preference() == Preference::any && !buffers.have_host_bytes());
    if (info->deferred == nullptr || !info->deferred->is_open() || !take_into_use(*info)) {
      if (attempt.kernel || buffers.preference() == Preference::messages) {
        wish_for_deferral(*info);
        attempt.why_library =
            "non-blocking, and no blocking collective on this communicator has prepared for it";
      }
      return attempt;
    }
    attempt.deferred = info->deferred.get();
    if (!attempt.is_for_messages && !attempt.kernel) return attempt;
    try {
      auto plan = make_plan();
      plan->outlive_the_call();
      attempt.plan = std::move(plan);
      attempt.signature = buffers.wish().signature();
      buffers.describe(this->scope());
    } catch (const std::bad_alloc&) {
      // the library may still find memory
    }
    return attempt;
  }

  /// `arguments` end with the communicator and the request, as those of all non-blocking collectives do.
  template <typename... Arguments>
  int run_deferred(Attempt attempt, StagedCall staged, MPI_Comm communicator, Arguments... arguments) const {
    constexpr std::size_t others = sizeof...(Arguments) - 2;
    const auto all = std::make_tuple(arguments...);
    const auto call_library = [&]<std::size_t... index>(std::index_sequence<index...>) {
      return [library = this->library(), all](MPI_Comm messages, MPI_Request* request) {
        return library(std::get<index>(all)..., messages, request);
      };
    };
    const auto& fused = peek_info(communicator)->fused;
    return attempt.deferred->post(
        this->scope(),
        {this->name(), ErrorTarget::of(communicator), std::move(attempt.plan), attempt.is_for_messages,
         std::move(attempt.kernel), fused != nullptr ? fused->context() : nullptr, attempt.signature,
         std::move(staged), call_library(std::make_index_sequence<others>())},
        std::get<others + 1>(all));
  }
};

template <typename Library>
CollectiveCall(CallScope&, Function, Library) -> CollectiveCall<Library>;

}  // namespace penstock::interpose
