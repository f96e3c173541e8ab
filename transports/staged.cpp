// The receiver's half of the staged road (staged.hpp): region → destination, behind the sender.
#include <algorithm>
#include <deque>

#include "transports/copy_pull.hpp"
#include "transports/cuda/stream_order.hpp"
#include "transports/guarded.hpp"
#include "transports/region_pool.hpp"
#include "transports/roads.hpp"
#include "transports/watch.hpp"

namespace penstock::transports {
namespace {

/// At most so much in one copy: the sender may fill what has been copied while the rest is on its way.
constexpr std::size_t largest_step_bytes = 4u << 20;

class RegionPull final : public Pull {
 public:
  RegionPull(const Offer& offer, const Place& destination, std::shared_ptr<MappedRegion> region,
             cuda::ContextRef context)
      : sender_{offer.process_id, offer.process_nonce},
        payload_bytes_(offer.payload_bytes),
        destination_(destination),
        cursor_(destination_.layout),
        region_(std::move(region)),
        context_(std::move(context)) {}

  ~RegionPull() override {
    for (Step& step : in_flight_) static_cast<void>(step.copied.wait());
    if (consumed_ < payload_bytes_) header().consumed.store(gave_up, std::memory_order_release);
  }

  [[nodiscard]] Status begin() noexcept {
    const ProcessIdentity self = this_process();
    header().receiver_nonce.store(self.nonce, std::memory_order_relaxed);
    header().receiver_id.store(self.id, std::memory_order_release);
    if (context_ == nullptr) return {};
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    region_->pin(context_);
    if (Status made = context_->stream(cuda::Lane::upload, stream_); !made.ok()) return made;
    return cuda::order_after_application(context_, stream_);
  }

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    if (failure_.ok()) failure_ = guarded([&] { return step(); });
    finished = failure_.ok() && consumed_ == payload_bytes_;
    return failure_;
  }

 private:
  struct Step {
    std::size_t end;  ///< of what it copies, in the payload
    cuda::Event copied;
  };

  [[nodiscard]] RegionHeader& header() const noexcept { return region_->header(); }

  [[nodiscard]] Status step() {
    while (!in_flight_.empty()) {
      bool done = false;
      if (Status state = in_flight_.front().copied.query(done); !state.ok()) return state;
      if (!done) break;
      publish(in_flight_.front().end);
      in_flight_.pop_front();
    }
    return issued_ < payload_bytes_ ? consume() : Status{};
  }

  [[nodiscard]] Status consume() {
    const std::uint64_t produced = header().produced.load(std::memory_order_acquire);
    if (produced == gave_up) return {Code::peer_lost, "the sender"};
    if (produced < issued_ || produced > payload_bytes_ || produced - consumed_ > region_->capacity()) {
      return {Code::peer_lost, "sender's word on what it produced"};
    }
    if (produced == issued_) return look_after_sender();
    watch_.progress();
    if (context_ != nullptr) {
      const cuda::ContextScope scope(*context_);
      if (!scope.status().ok()) return scope.status();
      while (issued_ < produced) {
        if (Status issued = issue(next_step(produced)); !issued.ok()) return issued;
      }
      return {};
    }
    const std::size_t bytes = next_step(produced);  // one a call: the CPU copies
    Status copied = copy_in_host(destination_, cursor_, next_chunk(), bytes);
    if (!copied.ok()) return copied;
    issued_ += bytes;
    publish(issued_);
    return {};
  }

  /// Up to the end of what there is, or of the ring.
  [[nodiscard]] std::size_t next_step(std::uint64_t produced) const noexcept {
    const std::size_t to_end_of_ring = region_->capacity() - issued_ % region_->capacity();
    return std::min({static_cast<std::size_t>(produced) - issued_, to_end_of_ring, largest_step_bytes});
  }
  [[nodiscard]] const char* next_chunk() const noexcept {
    return region_->data() + issued_ % region_->capacity();
  }

  [[nodiscard]] Status issue(std::size_t bytes) {
    cuda::Event copied;
    if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
    const char* chunk = next_chunk();
    in_flight_.push_back({issued_ + bytes, std::move(copied)});
    issued_ += bytes;
    Status copies = copy_in(destination_, cursor_, chunk, Side::host, bytes, stream_);
    Status recorded = in_flight_.back().copied.record(stream_);  // also behind copies that failed half way
    return copies.ok() ? recorded : copies;
  }

  [[nodiscard]] Status look_after_sender() noexcept {
    if (!watch_.is_due() || is_alive(sender_)) return {};
    // it may have produced more just before it died
    const bool more = header().produced.load(std::memory_order_acquire) != issued_;
    return more ? Status{} : Status{Code::peer_lost, "the sender"};
  }

  void publish(std::size_t consumed) noexcept {
    consumed_ = consumed;
    header().consumed.store(consumed, std::memory_order_release);
  }

  const ProcessIdentity sender_;
  const std::size_t payload_bytes_;
  Place destination_;
  LayoutCursor cursor_;
  std::shared_ptr<MappedRegion> region_;
  cuda::ContextRef context_;  ///< null: the destination is host memory, the CPU copies
  CUstream stream_ = nullptr;
  std::deque<Step> in_flight_;
  std::size_t issued_ = 0;
  std::size_t consumed_ = 0;
  Status failure_;
  Watch watch_;
};

class StagedRoad final : public Transport {
 public:
  [[nodiscard]] Road road() const noexcept override { return Road::staged; }

  [[nodiscard]] Verdict accepts(const Offer& offer, const Place&) const noexcept override {
    if (offer.region_descriptor < 0) return {false, "the sender has not staged its payload"};
    return {true, "through shared host memory"};
  }

  [[nodiscard]] Status start(const Offer& published, const Place& destination,
                             std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer offer = published;  // checked and used in one state, whatever its owner does to it
      if (offer.payload_bytes > destination.layout.bytes()) {
        return {Code::bad_argument, "a message longer than its receive"};
      }
      if (offer.payload_bytes ==
          0) {  // the sender does not wait for it: the region may serve another already
        pull = std::make_unique<CopyPull>(CopySource{}, destination, nullptr);
        return {};
      }
      cuda::ContextRef context;
      if (lives_on_device(destination.buffer.kind)) {
        context = cuda::Context::of(destination.buffer);
        if (context == nullptr) return cuda::no_driver();
      }
      std::shared_ptr<MappedRegion> region;
      if (Status opened = RegionCache::of_process().open(offer, region); !opened.ok()) return opened;
      auto made = std::make_unique<RegionPull>(offer, destination, std::move(region), std::move(context));
      Status begun = made->begin();
      if (begun.ok()) pull = std::move(made);
      return begun;
    });
  }
};

}  // namespace

Transport& staged_road() noexcept {
  static StagedRoad road;
  return road;
}

}  // namespace penstock::transports
