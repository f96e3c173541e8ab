// One call that initialises a persistent collective. It is collective itself, and not local; the calls that
// start and complete the collective are local. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "interpose/collectives/calls/collective_call.hpp"
#include "interpose/collectives/calls/persistent_schedule.hpp"
#include "interpose/collectives/kernels/one_shot_schedule.hpp"
#include "interpose/staging/persistent_staged_call.hpp"

namespace penstock::interpose {

template <typename Library>
class PersistentCall : public CollectiveCall<Library> {
 public:
  using CollectiveCall<Library>::CollectiveCall;

  /// Carries out each start by messages, if all ranks vote for it. Otherwise as CollectiveCall's.
  template <typename Post>
  [[nodiscard]] CallOutcome by_messages(MPI_Comm communicator, const CollectiveBuffers& buffers, Post post,
                                        MPI_Info, MPI_Request* request) const {
    return instead_of_library(communicator, buffers, request, [&] {
      auto schedule = std::make_unique<MessageSchedule>();
      post(*schedule);
      return schedule;
    });
  }
  template <typename MakeSchedule>
  [[nodiscard]] CallOutcome by_schedule(MPI_Comm communicator, const CollectiveBuffers& buffers,
                                        MakeSchedule make_schedule, MPI_Info, MPI_Request* request) const {
    return instead_of_library(communicator, buffers, request, [&] {
      return std::make_unique<std::invoke_result_t<MakeSchedule>>(make_schedule());
    });
  }

  /// Carries it out by the MPI library. `arguments` end with an MPI_Request*. Each start downloads what the
  /// library reads, and so does this call: MPICH (4.0) reads small gathered or scattered blocks here, and
  /// only here.
  template <typename... Arguments>
  int run(const CallOutcome& outcome, StagedCall staged, MPI_Comm communicator,
          Arguments... arguments) const {
    this->report_why(outcome, staged);
    if (const Status fetched = staged.fetch(); !fetched.ok()) return staged.raise(fetched);
    const int code = this->meet_and_call(outcome, communicator, arguments...);
    if (code != MPI_SUCCESS || !(staged.is_staged() || this->scope().recording())) return code;
    MPI_Request* const request = std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
    auto recipe = std::make_unique<PersistentStagedCall>(std::move(staged), *request);
    attach_persistent(*request, recorded(this->scope(), std::move(recipe)));
    return code;
  }

 private:
  template <typename MakeSchedule>
  [[nodiscard]] CallOutcome instead_of_library(MPI_Comm communicator, CollectiveBuffers buffers,
                                               MPI_Request* request, MakeSchedule make_schedule) const {
    if (!has_free_tags(communicator))
      buffers.leave_to_library("its tags are still used by another persistent collective");
    // allocated now, as nothing may fail once all ranks have voted
    std::unique_ptr<Schedule> schedule;
    if (buffers.vote() != Vote::library) {
      try {
        schedule = make_schedule();
        schedule->outlive_the_call();
      } catch (const std::bad_alloc&) {
        buffers.leave_to_library("there is no memory for its messages");
      }
    }
    CallOutcome outcome;
    outcome.why_library = buffers.why_library();
    outcome.has_arrived = true;
    std::unique_ptr<OneShotSeries> series;
    const auto decision = this->agree(communicator, buffers, [&](const OfferedKernel& kernel) {
      series = make_series(communicator, kernel);
      return series != nullptr;
    });
    const MPI_Comm messages = decision.tags.messages;
    if (messages == MPI_COMM_NULL) return outcome;
    if (decision.by_kernels)
      schedule = std::make_unique<OneShotSchedule>(std::move(series), *buffers.kernel());
    outcome.code = attach_persistent_schedule(this->scope(), std::move(schedule), this->name(), communicator,
                                              messages, request);
    return outcome;
  }

  [[nodiscard]] static std::unique_ptr<OneShotSeries> make_series(MPI_Comm communicator,
                                                                  const OfferedKernel& kernel) {
    const CommunicatorInfo& info = *peek_info(communicator);
    const std::size_t bytes = transports::OneShotCollective::memory_for(bytes_on_all_ranks(kernel.work),
                                                                        static_cast<std::size_t>(info.size));
    return OneShotSeries::make(OneShotMembers(info), communicator, kernel.context, bytes, SeriesUse::other);
  }
};

template <typename Library>
PersistentCall(CallScope&, Function, Library) -> PersistentCall<Library>;

}  // namespace penstock::interpose
