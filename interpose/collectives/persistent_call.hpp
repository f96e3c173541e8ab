// One call that initialises a persistent collective. It is collective itself, and not local; the calls that
// start and complete the collective are local. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/collectives/collective_call.hpp"
#include "interpose/collectives/fused_plan.hpp"
#include "interpose/collectives/persistent_exchange.hpp"
#include "interpose/staging/persistent_staged_call.hpp"

namespace penstock::interpose {

template <typename Library>
class PersistentCall : public CollectiveCall<Library> {
 public:
  using CollectiveCall<Library>::CollectiveCall;

  /// Carries out each start by messages, if all ranks vote for it. Otherwise as CollectiveCall's.
  template <typename Post>
  [[nodiscard]] Attempt by_messages(MPI_Comm communicator, const BroughtBuffers& buffers, Post post, MPI_Info,
                                    MPI_Request* request) const {
    return instead_of_library(communicator, buffers, request, [&] {
      auto plan = std::make_unique<MessagePlan>();
      post(*plan);
      return plan;
    });
  }
  template <typename MakePlan>
  [[nodiscard]] Attempt by_plan(MPI_Comm communicator, const BroughtBuffers& buffers, MakePlan make_plan,
                                MPI_Info, MPI_Request* request) const {
    return instead_of_library(communicator, buffers, request,
                              [&] { return std::make_unique<std::invoke_result_t<MakePlan>>(make_plan()); });
  }

  /// Carries it out by the MPI library. `arguments` end with an MPI_Request*. Each start downloads what the
  /// library reads, and so does this call: MPICH (4.0) reads small gathered or scattered blocks here, and
  /// only here.
  template <typename... Arguments>
  int run(const Attempt& attempt, StagedCall staged, MPI_Comm communicator, Arguments... arguments) const {
    this->say_why(attempt, staged);
    if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
    const int code = this->meet_and_call(attempt, communicator, arguments...);
    if (code != MPI_SUCCESS || !(staged.is_staged() || this->scope().recording())) return code;
    MPI_Request* const request = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
    auto recipe = std::make_unique<PersistentStagedCall>(std::move(staged), *request);
    attach_persistent(*request, recorded(this->scope(), std::move(recipe)));
    return code;
  }

 private:
  template <typename MakePlan>
  [[nodiscard]] Attempt instead_of_library(MPI_Comm communicator, BroughtBuffers buffers,
                                           MPI_Request* request, MakePlan make_plan) const {
    if (!has_free_lane(communicator))
      buffers.leave_to_library("its tags are still used by another persistent collective");
    Attempt attempt;
    attempt.why_library = buffers.why_library();
    attempt.has_arrived = true;
    std::unique_ptr<FusedSeries> series;
    const auto agreed = this->agree(communicator, buffers, [&](const OfferedKernel& kernel) {
      series = make_series(communicator, kernel);
      return series != nullptr;
    });
    const MPI_Comm messages = agreed.lane.messages;
    if (messages == MPI_COMM_NULL) return attempt;
    std::unique_ptr<ExchangePlan> plan;
    if (agreed.by_kernels) {
      plan = std::make_unique<FusedPlan>(std::move(series), *buffers.kernel());
    } else {
      plan = make_plan();
    }
    attempt.code =
        attach_exchange(this->scope(), std::move(plan), this->name(), communicator, messages, request);
    return attempt;
  }

  [[nodiscard]] static std::unique_ptr<FusedSeries> make_series(MPI_Comm communicator,
                                                                const OfferedKernel& kernel) {
    const CommunicatorInfo& info = *peek_info(communicator);
    const std::size_t bytes = transports::FusedCollective::memory_for(bytes_on_all_ranks(kernel.work),
                                                                      static_cast<std::size_t>(info.size));
    return FusedSeries::make(FusedMembers(info), communicator, kernel.context, bytes, SeriesUse::other);
  }
};

template <typename Library>
PersistentCall(CallScope&, Function, Library) -> PersistentCall<Library>;

}  // namespace penstock::interpose
