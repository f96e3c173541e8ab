// This class carries out the non-blocking collectives of one communicator. Such a call must not wait for
// other ranks' votes, so it is deferred until all have voted (agreement_ring.hpp); a later MPI call then
// begins it, by messages, kernels or the MPI library. Calls begin one after the other in the order in which
// they were made, on the communicator of Penstock's messages: what the program does meanwhile with its own
// communicator does not matter. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/collectives/kernels/one_shot_series.hpp"
#include "interpose/collectives/kernels/one_shot_work.hpp"
#include "interpose/collectives/schedules/schedule.hpp"
#include "interpose/node/agreement_ring.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {

/// The work of one call, whichever way it is carried out. Refers to the user's buffers and arrays, which MPI
/// forbids to change before the call is complete; datatypes and operations are kept for it
/// (kept_handles.hpp).
struct DeferredWork {
  const char* mpi_call;
  ErrorTarget errors;
  std::unique_ptr<Schedule> schedule;             ///< null: this rank votes for the library
  bool is_for_messages;                           ///< false: it is for kernels, or the library is better
  std::optional<OfferedKernel> kernel;            ///< beside a schedule
  transports::cuda::ContextRef blocking_context;  ///< of blocking collectives by kernels; or null
  std::uint16_t signature;                        ///< of its arguments (vote_slots.hpp)
  StagedCall staged;
  std::vector<MPI_Datatype> datatypes;  ///< those of the arguments
  /// Calls the MPI library's function on that communicator; returns its code.
  std::function<int(MPI_Comm, MPI_Request*)> call_library;
};

class DeferredCall;

/// Thread: one at a time; with several threads inside MPI, under RequestTable::Lock. Owned by the
/// communicator, and by its calls until they are complete.
class DeferredCollectives : public std::enable_shared_from_this<DeferredCollectives> {
 public:
  DeferredCollectives();
  ~DeferredCollectives();
  DeferredCollectives(const DeferredCollectives&) = delete;
  DeferredCollectives& operator=(const DeferredCollectives&) = delete;

  /// Lets the ranks agree from now on; all call this in the same collective. `messages` is messages_of() the
  /// communicator of that info.
  void open(Agreement agreement, MPI_Comm messages, const CommunicatorInfo& info) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return agreement_.has_value(); }
  /// Returns whether the ranks agree on them, as far as this rank knows.
  [[nodiscard]] bool is_in_use() const noexcept { return use_ == AgreementUse::used; }
  /// Notes that this rank makes its first non-blocking collective. Returns false, on all ranks, if one of
  /// them has given back the communicator for the messages. Thread: any.
  [[nodiscard]] bool take_into_use() noexcept {
    if (!is_in_use()) use_ = agreement_->decide(AgreementUse::used);
    return is_in_use();
  }
  /// Returns true if take_into_use() fails on all ranks from now on. Thread: any.
  [[nodiscard]] bool give_back() noexcept {
    return agreement_->decide(AgreementUse::given_back) == AgreementUse::given_back;
  }

  /// Posts the next call. `*request` becomes the user's. Returns the code of the call. Takes
  /// RequestTable::Lock.
  int post(const CallScope& scope, DeferredWork work, MPI_Request* request);
  /// Begins all calls that can begin.
  void step(const CallScope& scope);
  /// Prepares for this rank's absence: calls on which the ranks have not decided become the library's, so
  /// that no rank waits for it. Begins all calls that can begin; for the rest is_leaving().
  void give_up(const CallScope& scope);
  /// Returns whether steps have still to begin calls that this rank has given up on.
  [[nodiscard]] bool is_leaving() const noexcept { return given_up_ > begun_; }
  /// Frees the tags or series of a completed call for the next ones. Once for each call.
  void note_end_of(const DeferredCall& call) noexcept;
  /// Steps the preparations for kernels. Returns true once those that began with that call are complete.
  [[nodiscard]] bool end_setup_of(const DeferredCall& call) noexcept;

 private:
  [[nodiscard]] Decision most_of(const DeferredWork& work) const noexcept;
  void prepare_kernels(std::size_t attempt) noexcept;
  void say_and_mark() noexcept;
  [[nodiscard]] bool begin_next(const CallScope& scope);
  void post_in_turn(const CallScope& scope, const std::shared_ptr<DeferredCall>& call, MPI_Request* request);

  std::shared_ptr<VoteSlot> vote_slot_;  ///< keeps the ring's words while there are calls
  std::optional<Agreement> agreement_;
  std::atomic<AgreementUse> use_{AgreementUse::undecided};  ///< as this rank knows it
  MPI_Comm messages_ = MPI_COMM_NULL;
  std::deque<std::shared_ptr<DeferredCall>> waiting_;  ///< not begun, in order
  std::uint64_t begun_ = 0;                            ///< ordinal of the last call that has begun
  std::uint64_t given_up_ = 0;                         ///< ordinal of the last that was given up
  std::uint64_t said_ = 0;                             ///< ordinal of the last on which this rank has voted
  std::uint64_t marked_ = 0;       ///< ordinal of the last whose outcome it has marked as seen
  std::uint64_t by_messages_ = 0;  ///< number of those begun by messages
  std::bitset<TagRange::nonblocking> busy_tags_;
  bool has_one_shot_ = false;  ///< the same on all ranks
  std::optional<OneShotMembers> members_;
  transports::cuda::ContextRef context_;  ///< of the last kernel offered, or of blocking collectives
  std::array<OneShotSetup, policy::one_shot_preparations.size()> setups_;
  std::bitset<policy::one_shot_preparations.size()> ended_attempts_;
  std::size_t tried_ = 0;                  ///< number of completed attempts that some rank stayed away from
  bool is_set_up_ = false;                 ///< the attempt after these is complete, and all ranks took part
  std::unique_ptr<OneShotSeries> series_;  ///< set then; null: this rank cannot reach the others' memory
  bool is_series_busy_ = false;
  bool repeats_ = false;  ///< the last call failed on this rank alone, and will be repeated
};

}  // namespace penstock::interpose
