#include "interpose/collectives/kernels/one_shot_collectives.hpp"

#include <new>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/policy.hpp"
#include "interpose/node/settings.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

using transports::OneShotCollective;

OneShotCollectives* OneShotCollectives::of(CommunicatorInfo& info) noexcept {
  const auto ranks = static_cast<std::size_t>(info.size);
  if (info.is_inter || info.span == Span::nodes || ranks < 2 || ranks > OneShotCollective::most_processes)
    return nullptr;
  if (info.one_shot == nullptr) info.one_shot.reset(new (std::nothrow) OneShotCollectives(info));
  return info.one_shot.get();
}

bool OneShotCollectives::may_take(std::size_t bytes) const noexcept {
  using transports::TransportKind;
  // a user who forces another transport wants no GPU to access another's memory
  const TransportKind asked_for = settings().transport;
  if (asked_for != TransportKind::none && asked_for != TransportKind::peer) return false;
  const auto ranks = static_cast<std::size_t>(info_.size);
  const bool is_refused = is_refused_ || (series_ != nullptr && series_->has_failed());
  return !is_refused && bytes <= transports::tuning().fused_to &&
         bytes <= OneShotCollective::largest_vector(policy::symmetric_memory_bytes, ranks);
}

bool OneShotCollectives::suits(std::size_t bytes,
                               const transports::cuda::ContextRef& context) const noexcept {
  return may_take(bytes) && (series_ == nullptr || series_->context() == context) &&
         !transports::is_on_shared_gpu(*context) && transports::cuda::Kernels::ready_in(*context).ok();
}

bool OneShotCollectives::prepare(MPI_Comm communicator, const transports::cuda::ContextRef& context) {
  if (is_refused_) return false;
  if (series_ != nullptr && series_->collectives() != OneShotCollective::most_collectives) return true;
  if (series_ == nullptr && ++votes_ < policy::least_one_shot_collectives) return false;
  series_ = nullptr;
  series_ = OneShotSeries::make(OneShotMembers(info_), communicator, context, policy::symmetric_memory_bytes,
                                SeriesUse::blocking);
  is_refused_ = series_ == nullptr;
  return !is_refused_;
}

std::unique_ptr<ScheduleRun> OneShotCollectives::begin(const transports::OneShotWork& work) {
  return std::make_unique<OneShotRun>(*series_, work, info_.arrivals.load(std::memory_order_relaxed));
}

}  // namespace penstock::interpose
