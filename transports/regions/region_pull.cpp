#include "transports/regions/region_pull.hpp"

#include <algorithm>

#include "transports/host/guarded.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// The most in one copy: the sender may fill what has been copied while the rest is in flight.
constexpr std::size_t largest_step_bytes(Side ring) noexcept {
  return ring == Side::device ? 16u << 20 : 4u << 20;
}

}  // namespace

Status RegionPull::start(const Offer& offer, const BufferView& destination, RingSource source,
                         cuda::ContextRef context, std::unique_ptr<Pull>& pull) {
  if (offer.payload_bytes > destination.layout.bytes())
    return {Code::bad_argument, "a message longer than its receive"};
  auto made = std::make_unique<RegionPull>(offer, destination, std::move(source), std::move(context));
  Status begun = made->begin();
  if (begun.ok()) pull = std::move(made);
  return begun;
}

RegionPull::RegionPull(const Offer& offer, const BufferView& destination, RingSource source,
                       cuda::ContextRef context)
    : sender_{offer.process_id, offer.process_nonce},
      payload_bytes_(offer.payload_bytes),
      destination_(destination),
      cursor_(destination_.layout),
      source_(std::move(source)),
      context_(std::move(context)) {}

void publish_receiver(RegionHeader& header) noexcept {
  const ProcessIdentity self = this_process();
  header.receiver_nonce.store(self.nonce, std::memory_order_relaxed);
  header.receiver_id.store(self.id, std::memory_order_release);
}

Status check_sender(const RegionHeader& header, const ProcessIdentity& sender, Watch& watch,
                    std::uint64_t produced) noexcept {
  if (!watch.is_due() || is_alive(sender)) return {};
  // the sender may have produced more just before it died
  const bool more = header.produced.load(std::memory_order_acquire) != produced;
  return more ? Status{} : Status{Code::peer_lost, "the sender"};
}

RegionPull::~RegionPull() {
  for (Step& step : in_flight_) static_cast<void>(step.copied.wait());
  if (consumed_ < payload_bytes_) header().consumed.store(gave_up, std::memory_order_release);
}

Status RegionPull::begin() noexcept {
  publish_receiver(header());
  if (context_ == nullptr) return {};
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  if (source_.ring.side == Side::host)
    copies_block_ = !source_.region->pin(context_) && lives_on_device(destination_.buffer.kind);
  const cuda::StreamUse upload = copies_block_ ? cuda::StreamUse::blocking_upload : cuda::StreamUse::upload;
  Status made = source_.ring.side == Side::host ? context_->stream(upload, stream_)
                                                : context_->next_pull_stream(stream_);
  if (!made.ok() || copies_block_ || !lives_on_device(destination_.buffer.kind)) return made;
  return cuda::order_after_application(context_, stream_, destination_.handed_over_ns);
}

Status RegionPull::advance(bool& finished) noexcept {
  if (failure_.ok()) failure_ = guarded([&] { return step(); });
  finished = failure_.ok() && consumed_ == payload_bytes_;
  return failure_;
}

Status RegionPull::step() {
  while (!in_flight_.empty()) {
    bool done = false;
    if (Status state = in_flight_.front().copied.query(done); !state.ok()) return state;
    if (!done) break;
    publish(in_flight_.front().end);
    in_flight_.pop_front();
  }
  return issued_ < payload_bytes_ ? consume() : Status{};
}

Status RegionPull::consume() {
  const std::uint64_t produced = header().produced.load(std::memory_order_acquire);
  if (produced == gave_up) return {Code::peer_lost, "the sender"};
  if (produced < issued_ || produced > payload_bytes_ || produced - consumed_ > source_.ring.bytes) {
    return {Code::peer_lost, "sender's progress counter"};
  }
  if (produced == issued_) return check_sender(header(), sender_, watch_, issued_);
  watch_.progress();
  if (copies_block_ && !earlier_.is_done(destination_)) return {};
  if (context_ != nullptr) {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    while (issued_ < produced) {
      if (Status issued = issue(next_step(produced)); !issued.ok()) return issued;
    }
    return {};
  }
  const std::size_t bytes = next_step(produced);  // one step per call, as the CPU copies
  Status copied = copy_in_host(destination_, cursor_, next_chunk(), bytes);
  if (!copied.ok()) return copied;
  issued_ += bytes;
  publish(issued_);
  return {};
}

Status RegionPull::issue(std::size_t bytes) {
  cuda::Event copied;
  if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
  const char* chunk = next_chunk();
  in_flight_.push_back({issued_ + bytes, std::move(copied)});
  issued_ += bytes;
  Status copies = copy_in(destination_, cursor_, chunk, source_.ring.side, bytes, stream_);
  Status recorded = in_flight_.back().copied.record(stream_);  // also behind copies that failed half way
  return copies.ok() ? recorded : copies;
}

/// Returns the bytes up to the end of what was produced or of the ring, at most largest_step_bytes.
std::size_t RegionPull::next_step(std::uint64_t produced) const noexcept {
  const std::size_t to_end_of_ring = source_.ring.bytes - issued_ % source_.ring.bytes;
  return std::min(
      {static_cast<std::size_t>(produced) - issued_, to_end_of_ring, largest_step_bytes(source_.ring.side)});
}

const char* RegionPull::next_chunk() const noexcept {
  return source_.ring.data + issued_ % source_.ring.bytes;
}

void RegionPull::publish(std::size_t consumed) noexcept {
  consumed_ = consumed;
  header().consumed.store(consumed, std::memory_order_release);
}

}  // namespace penstock::transports
