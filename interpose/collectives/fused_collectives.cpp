#include "interpose/collectives/fused_collectives.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/arrival_places.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/host/guarded.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

using transports::FusedCollective;
using transports::SymmetricMemory;
using transports::SymmetricPart;

namespace {

/// Of this process, that have memory.
std::atomic<int> fusing_communicators{0};

}  // namespace

FusedCollectives::~FusedCollectives() {
  drop_memory();
}

void FusedCollectives::drop_memory() noexcept {
  collective_.reset();
  memory_ = {};
  if (std::exchange(is_counted_, false)) --fusing_communicators;
}

FusedCollectives* FusedCollectives::of(CommunicatorInfo& info) noexcept {
  const auto ranks = static_cast<std::size_t>(info.size);
  if (info.is_inter || info.span == Span::nodes || ranks < 2 || ranks > FusedCollective::most_processes)
    return nullptr;
  if (info.fused == nullptr) info.fused.reset(new (std::nothrow) FusedCollectives(info));
  return info.fused.get();
}

bool FusedCollectives::may_take(std::size_t bytes) const noexcept {
  using transports::TransportKind;
  // who asks for another transport means that no GPU shall reach into another's memory
  const TransportKind asked_for = settings().transport;
  if (asked_for != TransportKind::none && asked_for != TransportKind::peer) return false;
  const auto ranks = static_cast<std::size_t>(info_.size);
  return !is_refused_ && bytes <= transports::tuning().fused_to &&
         bytes <= FusedCollective::largest_vector(policy::symmetric_memory_bytes, ranks);
}

bool FusedCollectives::suits(std::size_t bytes, const transports::cuda::ContextRef& context) const noexcept {
  return may_take(bytes) && (memory_.context() == nullptr || memory_.context() == context) &&
         !transports::is_on_shared_gpu(*context);
}

bool FusedCollectives::prepare(MPI_Comm communicator, const transports::cuda::ContextRef& context) {
  if (is_refused_) return false;
  if (collective_ && collective_->collectives() != FusedCollective::most_collectives) return true;
  if (!collective_ && ++wishes_ < policy::least_collectives_to_fuse) return false;
  drop_memory();
  is_refused_ = !set_up(communicator, context);
  if (is_refused_) {
    drop_memory();
  } else {
    collective_.emplace(memory_, static_cast<std::size_t>(info_.rank));
  }
  return !is_refused_;
}

/// On the program's own communicator, for which all ranks are in the same call; on that of Penstock's
/// messages, non-blocking collectives begin when each rank gets to it.
bool FusedCollectives::set_up(MPI_Comm communicator, const transports::cuda::ContextRef& context) {
  std::array<SymmetricPart, FusedCollective::most_processes> parts{};
  SymmetricPart own;
  const auto made = transports::guarded([&]() -> Status {
    is_counted_ = true;
    if (fusing_communicators.fetch_add(1) >= policy::most_fusing_communicators)
      return {Code::declined, "as many communicators as may fuse their collectives"};
    return SymmetricMemory::make(context, policy::symmetric_memory_bytes, memory_);
  });
  if (made.ok()) own = memory_.part();
  const auto bytes = static_cast<int>(sizeof own);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = PMPI_Iallgather(&own, bytes, MPI_BYTE, parts.data(), bytes, MPI_BYTE, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  const auto opened = transports::guarded([&]() -> Status {
    if (!made.ok()) return made;
    return memory_.open(std::span(parts).first(static_cast<std::size_t>(info_.size)),
                        static_cast<std::size_t>(info_.rank));
  });
  int is_open = code == MPI_SUCCESS && opened.ok() ? 1 : 0;
  int are_all_open = 0;
  if (code == MPI_SUCCESS)
    code = PMPI_Iallreduce(&is_open, &are_all_open, 1, MPI_INT, MPI_MIN, communicator, &request);
  if (code == MPI_SUCCESS) code = wait_polling(&request, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && are_all_open != 0;
}

Status FusedCollectives::begin(const FusedWork& work) {
  const Status begun = std::visit([&](const auto& kind) { return collective_->launch(kind); }, work);
  return begun.ok() ? begun : give_up(begun);
}

Status FusedCollectives::step(bool& is_over) {
  auto outcome = FusedCollective::Outcome::pending;
  if (Status state = collective_->query(outcome); !state.ok()) return give_up(state);
  is_over = outcome == FusedCollective::Outcome::complete;
  if (outcome != FusedCollective::Outcome::waiting) return {};
  const std::uint32_t ordinal = info_.arrivals.load(std::memory_order_relaxed);
  for (const DirectoryRow* const row : info_.rows) {
    if (has_failed(*row, info_.global_id, ordinal)) {
      is_refused_ = true;
      return {Code::peer_lost, "a collective of which another rank could not do its part"};
    }
  }
  if (Status again = collective_->launch_again(); !again.ok()) return give_up(again);
  return {};
}

/// The others must not wait for what does not come.
Status FusedCollectives::give_up(const Status& why) noexcept {
  is_refused_ = true;
  if (const auto place = info_.arrival_place->get()) {
    note_failure(*node_directory().own_row(), place->index, info_.arrivals.load(std::memory_order_relaxed));
  }
  return why;
}

}  // namespace penstock::interpose
