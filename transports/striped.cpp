// The striped transport: a large payload over NVLink and PCIe at once, faster than either. The receiver's
// copy engine pulls from the mapped source all but a planned tail; meanwhile the sender brings chunks of the
// tail to host memory (TailSend) and the receiver's other copy engine fetches them from there. What the
// sender has not brought when the rest has arrived (it may be busy elsewhere, or dead) is pulled, too. So
// every byte is written once.
#include <deque>

#include "transports/copies/copy_pull.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/host/guarded.hpp"
#include "transports/reach.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/stream_order/stream_order.hpp"
#include "transports/tail_send.hpp"
#include "transports/transport_table.hpp"

namespace penstock::transports {
namespace {

/// Offsets count from the payload's begin for what NVLink carries, and from its end for the tail.
class StripedPull final : public Pull {
 public:
  StripedPull(const Offer& offer, const Place& destination, ReachedMemory memory, cuda::ContextRef context)
      : plan_(offer.payload_bytes),
        bytes_(offer.payload_bytes),
        source_(memory.first),
        destination_(reinterpret_cast<CUdeviceptr>(destination.first_byte())),
        memory_(std::move(memory)),
        context_(std::move(context)) {}

  ~StripedPull() override {
    for (cuda::Event& copied : front_copies_) static_cast<void>(copied.wait());
    for (cuda::Event& copied : tail_copies_) static_cast<void>(copied.wait());
    close_tail();
  }

  /// Queues what NVLink will carry in any case: in one copy, as each costs it some 6 µs, and at once, so that
  /// it goes on while the receiver is busy elsewhere. `declined` as long as no byte has moved.
  [[nodiscard]] Status begin(std::uint64_t handed_over_ns) {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (Status made = context_->next_pull_stream(front_stream_); !made.ok()) return made;
    if (Status made = context_->stream(cuda::StreamUse::upload, tail_stream_); !made.ok()) return made;
    for (CUstream stream : {front_stream_, tail_stream_}) {
      if (Status ordered = cuda::order_after_application(context_, stream, handed_over_ns); !ordered.ok())
        return ordered;
    }
    return pull(bytes_ - plan_.tail);
  }

  /// Without a tail the whole payload goes over NVLink.
  void open_tail(const Offer& offer) {
    Offer named = offer;
    named.region = offer.tail;
    std::shared_ptr<MappedRegion> region;
    if (!RegionCache::of_process().open(named, region).ok() || region->ring().bytes < plan_.ring) return;
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok() || !region->pin(context_)) return;
    tail_ = std::move(region);
    const ProcessIdentity self = this_process();
    tail_->header().receiver_nonce.store(self.nonce, std::memory_order_relaxed);
    tail_->header().receiver_id.store(self.id, std::memory_order_release);
    ask_for_chunks();
  }

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    if (failure_.ok()) failure_ = guarded([&] { return step(); });
    finished = failure_.ok() && front_ + taken_ == bytes_ && front_copies_.empty() && tail_copies_.empty();
    if (finished) close_tail();
    return failure_;
  }

 private:
  using Copies = std::deque<cuda::Event>;  ///< each after its copy

  [[nodiscard]] Status step() {
    if (Status looked = look_for_arrivals(front_copies_); !looked.ok()) return looked;
    const std::uint64_t fetched_before = fetched_;
    if (Status looked = look_for_arrivals(tail_copies_); !looked.ok()) return looked;
    fetched_ = taken_ - tail_copies_.size() * plan_.chunk;
    if (fetched_ != fetched_before) tail_->header().consumed.store(fetched_, std::memory_order_release);
    if (front_ + taken_ == bytes_) return {};
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (tail_ != nullptr) {
      if (Status fetched = fetch_chunks(); !fetched.ok()) return fetched;
      ask_for_chunks();
    }
    return front_copies_.empty() ? pull_what_is_left() : Status{};
  }

  [[nodiscard]] static Status look_for_arrivals(Copies& copies) noexcept {
    while (!copies.empty()) {
      bool done = false;
      if (Status state = copies.front().query(done); !state.ok()) return state;
      if (!done) break;
      copies.pop_front();
    }
    return {};
  }

  /// Over PCIe: what the sender has brought of what it was asked for.
  [[nodiscard]] Status fetch_chunks() {
    const std::uint64_t produced = tail_->header().produced.load(std::memory_order_acquire);
    if (produced == gave_up || produced > fetched_ + plan_.ring || produced % plan_.chunk != 0) {
      ask_for_no_more();  // it has failed, or its word is not to be trusted
      return {};
    }
    while (taken_ < std::min(produced, asked_)) {
      const char* chunk = tail_->ring().data + taken_ % plan_.ring;
      const std::uint64_t offset = bytes_ - taken_ - plan_.chunk;
      if (Status copied =
              copy(tail_copies_, offset, reinterpret_cast<CUdeviceptr>(chunk), plan_.chunk, tail_stream_);
          !copied.ok()) {
        return copied;
      }
      taken_ += plan_.chunk;
    }
    return {};
  }

  void ask_for_chunks() noexcept {
    const std::uint64_t before = asked_;
    while (asking_ && asked_ + plan_.chunk <= std::min(plan_.tail, fetched_ + plan_.ring))
      asked_ += plan_.chunk;
    if (asked_ != before) tail_->header().wanted.store(asked_, std::memory_order_release);
  }

  void ask_for_no_more() noexcept {
    asking_ = false;
    asked_ = taken_;
    if (tail_ != nullptr) tail_->header().wanted.store(asked_, std::memory_order_release);
  }

  /// Over NVLink, once that is through with the rest: what has not come by the other way.
  [[nodiscard]] Status pull_what_is_left() {
    ask_for_no_more();
    return front_ + taken_ == bytes_ ? Status{} : pull(bytes_ - taken_ - front_);
  }

  [[nodiscard]] Status pull(std::uint64_t bytes) {
    Status copied = copy(front_copies_, front_, source_ + front_, bytes, front_stream_);
    front_ += bytes;
    return copied;
  }

  [[nodiscard]] Status copy(Copies& copies, std::uint64_t offset, CUdeviceptr from, std::uint64_t bytes,
                            CUstream stream) {
    const cuda::Driver* driver = cuda::driver();
    if (driver == nullptr) return cuda::no_driver();
    cuda::Event copied;
    if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
    copies.push_back(std::move(copied));
    Status issued =
        cuda::check(driver->cuMemcpyAsync(destination_ + offset, from, bytes, stream), "cuMemcpyAsync");
    Status recorded = copies.back().record(stream);
    return issued.ok() ? recorded : issued;
  }

  void close_tail() noexcept {
    if (tail_ != nullptr) tail_->header().wanted.store(gave_up, std::memory_order_release);
    tail_ = nullptr;
  }

  const TailPlan plan_;
  const std::uint64_t bytes_;
  const CUdeviceptr source_;
  const CUdeviceptr destination_;
  const ReachedMemory memory_;  ///< kept mapped
  cuda::ContextRef context_;
  CUstream front_stream_ = nullptr;
  CUstream tail_stream_ = nullptr;
  std::shared_ptr<MappedRegion> tail_;
  Copies front_copies_;
  Copies tail_copies_;
  std::uint64_t front_ = 0;    ///< queued over NVLink
  std::uint64_t asked_ = 0;    ///< of the sender
  std::uint64_t taken_ = 0;    ///< of it, queued over PCIe
  std::uint64_t fetched_ = 0;  ///< of it, arrived
  bool asking_ = true;
  Status failure_;
};

Verdict judge_striped(const Payload& payload) {
  const Offer& offer = payload.offer;
  const Place& destination = payload.destination;
  // where the sender offers no tail, or the other transports refuse as well, they say why
  if (offer.tail.segment_bytes == 0 || offer.contiguous == 0 || payload.is_own()) return {};
  if (!lives_on_device(destination.buffer.kind) || !destination.layout.is_contiguous()) return {};
  const cuda::ContextRef& context = payload.context();
  if (context == nullptr || !cuda::has_nvlink(context->device(), device_of(offer))) return {};
  return payload.reach().accepted ? Verdict{true, "NVLink and PCIe together"} : Verdict{};
}

class StripedTransport final : public Transport {
 public:
  [[nodiscard]] TransportKind kind() const noexcept override { return TransportKind::striped; }

  [[nodiscard]] Verdict accepts(const Payload& payload) const override { return judge_striped(payload); }

  [[nodiscard]] Status start(const Payload& payload, std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer& offer = payload.offer;
      const Place& destination = payload.destination;
      if (offer.payload_bytes > destination.layout.bytes())
        return {Code::bad_argument, "a message longer than its receive"};
      ReachedMemory memory;
      if (Status reached = reach(payload, offer.payload_bytes, memory); !reached.ok()) return reached;
      auto made = std::make_unique<StripedPull>(offer, destination, std::move(memory), payload.context());
      if (Status begun = made->begin(destination.handed_over_ns); !begun.ok())
        return {Code::declined, begun.where(), begun.detail()};
      made->open_tail(offer);
      pull = std::move(made);
      return {};
    });
  }
};

}  // namespace

Transport& striped_transport() noexcept {
  static StripedTransport transport;
  return transport;
}

}  // namespace penstock::transports
