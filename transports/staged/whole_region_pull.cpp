#include "transports/staged/whole_region_pull.hpp"

#include <utility>

#include "transports/copy_selection/start_copy.hpp"
#include "transports/host/guarded.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {

bool WholeRegionPull::suits(const Offer& offer, const BufferView& destination, const RingSource& source,
                            const cuda::ContextRef& context) noexcept {
  return context != nullptr && source.ring.side == Side::host && offer.payload_bytes != 0 &&
         offer.payload_bytes <= source.ring.bytes && offer.payload_bytes <= tuning().host_batched_to &&
         offer.payload_bytes <= destination.layout.bytes() && lives_on_device(destination.buffer.kind) &&
         destination.layout.is_contiguous();
}

WholeRegionPull::WholeRegionPull(const Offer& offer, const BufferView& destination, RingSource source,
                                 cuda::ContextRef context)
    : sender_{offer.process_id, offer.process_nonce},
      payload_bytes_(offer.payload_bytes),
      destination_(destination),
      source_(std::move(source)),
      context_(std::move(context)) {}

WholeRegionPull::~WholeRegionPull() {
  copy_.reset();
  if (!is_copied_) header().consumed.store(gave_up, std::memory_order_release);
}

Status WholeRegionPull::begin() noexcept {
  publish_receiver(header());
  const cuda::ContextScope scope(*context_);
  if (scope.status().ok()) is_pinned_ = source_.region->pin(context_);
  return scope.status();
}

Status WholeRegionPull::advance(bool& finished) noexcept {
  if (failure_.ok() && !is_copied_) failure_ = guarded([&] { return step(); });
  finished = failure_.ok() && is_copied_;
  return failure_;
}

Status WholeRegionPull::step() {
  if (copy_ == nullptr) {
    bool is_there = false;
    if (Status looked = look_for_payload(is_there); !looked.ok() || !is_there) return looked;
    CopySource source{source_.ring.data, payload_bytes_, Side::host};
    source.is_pinned = is_pinned_;
    Status started = start_copy(source, destination_, context_, copy_);
    if (started.code() != Code::declined) return started;
    auto alone = std::make_unique<CopyPull>(std::move(source), destination_, context_);
    started = alone->start();
    if (started.ok()) copy_ = std::move(alone);
    return started;
  }
  if (Status stepped = copy_->advance(is_copied_); !stepped.ok() || !is_copied_) return stepped;
  header().consumed.store(payload_bytes_, std::memory_order_release);
  return {};
}

Status WholeRegionPull::look_for_payload(bool& is_there) noexcept {
  const std::uint64_t produced = header().produced.load(std::memory_order_acquire);
  is_there = produced == payload_bytes_;
  if (is_there) return {};
  if (produced == gave_up) return {Code::peer_lost, "the sender"};
  if (produced > payload_bytes_) return {Code::peer_lost, "sender's progress counter"};
  return check_sender(header(), sender_, watch_, produced);
}

}  // namespace penstock::transports
