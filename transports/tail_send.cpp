#include "transports/tail_send.hpp"

#include <deque>

#include "transports/cuda/context.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/host/guarded.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

class RegionTailSend final : public TailSend {
 public:
  RegionTailSend(const Offer& offer, std::unique_ptr<Region> region, cuda::ContextRef context)
      : plan_(offer.payload_bytes),
        end_(offer.address + offer.payload_bytes),
        region_(std::move(region)),
        context_(std::move(context)) {}

  ~RegionTailSend() override {
    for (Chunk& chunk : in_flight_) static_cast<void>(chunk.copied.wait());
    RegionHeader& shared = header();
    const bool came = shared.receiver_id.load(std::memory_order_acquire) != 0;
    shared.produced.store(gave_up, std::memory_order_release);
    if (came && !is_over()) return;  // it may still be reading its mapping
    // in the name of the receiver, which is through or will not come: the pool takes the region for drained
    shared.consumed.store(plan_.tail, std::memory_order_release);
    RegionPool::of_process().give_back(std::move(region_));
  }

  void begin(Offer& offer) noexcept {
    Offer named = offer;
    region_->begin(plan_.tail, named);
    offer.tail = named.region;
  }

  void advance() noexcept override {
    if (stopped_) return;
    const std::uint64_t wanted = header().wanted.load(std::memory_order_acquire);
    if (wanted == 0) return;
    const Status status = guarded([&] { return step(std::min(wanted, plan_.tail)); });
    stopped_ = !status.ok() || is_over();
    if (!status.ok()) header().produced.store(gave_up, std::memory_order_release);
  }

  [[nodiscard]] bool is_over() const noexcept override {
    return header().wanted.load(std::memory_order_acquire) == gave_up;
  }
  [[nodiscard]] std::uint64_t brought() const noexcept override {
    return header().produced.load(std::memory_order_acquire);
  }
  [[nodiscard]] std::uint64_t taken() const noexcept override {
    return header().consumed.load(std::memory_order_acquire);
  }

 private:
  struct Chunk {
    std::uint64_t end;  ///< counted from the payload's end, as all that follows
    cuda::Event copied;
  };

  [[nodiscard]] RegionHeader& header() const noexcept { return region_->mapped().header(); }

  [[nodiscard]] Status step(std::uint64_t wanted) {
    while (!in_flight_.empty()) {
      bool done = false;
      if (Status state = in_flight_.front().copied.query(done); !state.ok()) return state;
      if (!done) break;
      header().produced.store(in_flight_.front().end, std::memory_order_release);
      in_flight_.pop_front();
    }
    const std::uint64_t consumed = std::min(taken(), issued_);
    const std::uint64_t limit = std::min(wanted, consumed + plan_.ring);
    return is_over() || issued_ + plan_.chunk > limit ? Status{} : produce(limit);
  }

  /// The receiver asks only after the payload was ready, so the copies wait for nothing.
  [[nodiscard]] Status produce(std::uint64_t limit) {
    const cuda::Driver* driver = cuda::driver();
    if (driver == nullptr) return cuda::no_driver();
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (stream_ == nullptr) {
      if (!region_->mapped().pin(context_)) return {Code::declined, "no pinned memory"};
      if (Status made = context_->stream(cuda::StreamUse::download, stream_); !made.ok()) return made;
    }
    while (issued_ + plan_.chunk <= limit) {
      cuda::Event copied;
      if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
      char* const to = region_->ring().data + issued_ % plan_.ring;
      issued_ += plan_.chunk;
      in_flight_.push_back({issued_, std::move(copied)});
      Status copy = cuda::check(
          driver->cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(to), end_ - issued_, plan_.chunk, stream_),
          "cuMemcpyAsync");
      Status recorded = in_flight_.back().copied.record(stream_);
      if (!copy.ok() || !recorded.ok()) return copy.ok() ? recorded : copy;
    }
    return {};
  }

  const TailPlan plan_;
  const std::uint64_t end_;  ///< of the payload, an address
  std::unique_ptr<Region> region_;
  cuda::ContextRef context_;
  CUstream stream_ = nullptr;
  std::deque<Chunk> in_flight_;
  std::uint64_t issued_ = 0;
  bool stopped_ = false;
};

}  // namespace

void TailSend::start(const Place& source, Offer& offer, std::unique_ptr<TailSend>& send) noexcept {
  static_cast<void>(guarded([&]() -> Status {
    const TailPlan plan(offer.payload_bytes);
    if (offer.payload_bytes < tuning().of(cuda::Link::nvlink).striped_from || plan.tail == 0 ||
        offer.ipc_exported == 0 || offer.contiguous == 0 || !cuda::has_any_nvlink(source.buffer.device)) {
      return {};
    }
    cuda::ContextRef context = cuda::Context::of(source.buffer);
    if (context == nullptr) return cuda::no_driver();
    std::unique_ptr<Region> region;
    if (Status taken = RegionPool::of_process().take(plan.ring, region); !taken.ok()) return taken;
    auto made = std::make_unique<RegionTailSend>(offer, std::move(region), std::move(context));
    made->begin(offer);
    send = std::move(made);
    return {};
  }));
}

}  // namespace penstock::transports
