// The non-blocking collectives of one communicator. A call that waits for nothing cannot ask the other ranks
// how it shall be carried out, so it is put off until all have said so (agreement_ring.hpp), be it in a later
// call: then it goes by messages, kernels or the MPI library, one after the other in the order of the calls,
// on the communicator of Penstock's messages. So what the program itself does with its own communicator
// meanwhile does not matter. Knows no single collective.
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

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/errors.hpp"
#include "interpose/collectives/exchange.hpp"
#include "interpose/collectives/fused_series.hpp"
#include "interpose/collectives/fused_work.hpp"
#include "interpose/node/agreement_ring.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/staging/staged_call.hpp"

namespace penstock::interpose {

/// What one call does, in any way. Refers to the user's buffers and arrays, which MPI lets nobody change
/// before the call is complete; datatypes and operations are kept for it (kept_handles.hpp).
struct DeferredWork {
  const char* mpi_call;
  ErrorTarget errors;
  std::unique_ptr<ExchangePlan> plan;   ///< null: this rank would have it done by the library
  bool is_for_messages;                 ///< else the library is the better one, if it is not for kernels
  std::optional<OfferedKernel> kernel;  ///< beside a plan
  transports::cuda::ContextRef blocking_context;  ///< of the communicator's blocking ones by kernels; or null
  std::uint16_t signature;                        ///< of its arguments (arrival_places.hpp)
  StagedCall staged;
  /// The MPI library's function on that communicator; returns its code.
  std::function<int(MPI_Comm, MPI_Request*)> call_library;
};

class DeferredCall;

/// Thread: one at a time; with several threads inside MPI, under Engine::Lock. Owned by the communicator, and
/// by its calls until they are over.
class DeferredCollectives : public std::enable_shared_from_this<DeferredCollectives> {
 public:
  DeferredCollectives();
  ~DeferredCollectives();
  DeferredCollectives(const DeferredCollectives&) = delete;
  DeferredCollectives& operator=(const DeferredCollectives&) = delete;

  /// All ranks have come to the same collective and begin to agree. `messages` is messages_of() the
  /// communicator of that info.
  void open(Agreement agreement, MPI_Comm messages, const CommunicatorInfo& info) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return agreement_.has_value(); }
  /// Whether the ranks agree on them, as far as this rank knows.
  [[nodiscard]] bool is_in_use() const noexcept { return use_ == AgreementUse::used; }
  /// This rank has come to the first. False, on all ranks: one of them has given back what it needs. Thread:
  /// any.
  [[nodiscard]] bool take_into_use() noexcept {
    if (!is_in_use()) use_ = agreement_->decide(AgreementUse::used);
    return is_in_use();
  }
  /// True: take_into_use() fails on all ranks. Thread: any.
  [[nodiscard]] bool give_back() noexcept {
    return agreement_->decide(AgreementUse::given_back) == AgreementUse::given_back;
  }

  /// The next call. `*request` becomes the user's. Returns the code of the call. Takes Engine::Lock.
  int post(const CallScope& scope, DeferredWork work, MPI_Request* request);
  /// Begins what can be begun.
  void step(const CallScope& scope);
  /// This rank is about to be away: what is not agreed on becomes the library's, so that nobody waits for it.
  /// Begins what can be begun; for the rest is_leaving().
  void give_up(const CallScope& scope);
  /// It has given up on calls that steps have still to begin.
  [[nodiscard]] bool is_leaving() const noexcept { return given_up_ > begun_; }
  /// Once for each call, when it is over: what it had is free for the next ones.
  void note_end_of(const DeferredCall& call) noexcept;
  /// Steps the preparations for kernels. True if those that have begun with that call are over.
  [[nodiscard]] bool end_setup_of(const DeferredCall& call) noexcept;

 private:
  [[nodiscard]] Way most_of(const DeferredWork& work) const noexcept;
  void prepare_kernels(std::size_t attempt) noexcept;
  void say_and_mark() noexcept;
  [[nodiscard]] bool begin_next(const CallScope& scope);
  void post_in_turn(const CallScope& scope, const std::shared_ptr<DeferredCall>& call, MPI_Request* request);

  std::shared_ptr<ArrivalPlace>
      place_;  ///< as long as there are calls the words are those of this communicator
  std::optional<Agreement> agreement_;
  std::atomic<AgreementUse> use_{AgreementUse::undecided};  ///< as this rank knows it
  MPI_Comm messages_ = MPI_COMM_NULL;
  std::deque<std::shared_ptr<DeferredCall>> waiting_;  ///< not begun, in order
  std::uint64_t begun_ = 0;                            ///< ordinal of the last that was
  std::uint64_t given_up_ = 0;                         ///< of the last that was given up
  std::uint64_t said_ = 0;                             ///< of the last of which this rank has said its part
  std::uint64_t marked_ = 0;                           ///< of the last whose outcome it has marked as seen
  std::uint64_t by_messages_ = 0;                      ///< so many of those begun
  std::bitset<MessageLane::nonblocking> busy_lanes_;
  bool can_fuse_ = false;  ///< the same on all ranks
  std::optional<FusedMembers> members_;
  transports::cuda::ContextRef context_;  ///< of the last kernel offered, or of blocking ones
  std::array<FusedSetup, policy::prepare_to_fuse.size()> setups_;
  std::bitset<policy::prepare_to_fuse.size()> ended_attempts_;
  std::size_t tried_ = 0;   ///< so many of them are over, and some rank has stayed away from each
  bool is_set_up_ = false;  ///< the next one is over, and none has
  std::unique_ptr<FusedSeries> series_;  ///< then; null: this rank cannot reach the others' memory
  bool is_series_busy_ = false;
  bool repeats_ = false;  ///< the last call failed on this rank alone, and will be made again
};

}  // namespace penstock::interpose
