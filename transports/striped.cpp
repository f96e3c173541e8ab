// The striped road: a large payload over NVLink and PCIe at once, faster than either. The receiver's copy
// engine pulls from the mapped source, front to back; meanwhile the sender brings chunks of the tail to host
// memory (TailSend) and the receiver's other copy engine fetches them from there. The receiver decides, by
// the pace of both, for which chunk PCIe is still the quicker way; what the sender does not bring (it may be
// busy elsewhere, or dead) is pulled like the rest. So every byte is written once.
#include <chrono>
#include <deque>

#include "transports/copy_pull.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/cuda/stream_order.hpp"
#include "transports/guarded.hpp"
#include "transports/reach.hpp"
#include "transports/region_pool.hpp"
#include "transports/roads.hpp"
#include "transports/tail_send.hpp"

namespace penstock::transports {
namespace {

/// Pieces of a payload, of which NVLink carries what is not settled at the start: small enough for both ways
/// to end at a time.
constexpr std::uint64_t pieces = 32;
/// That many are queued where it is not yet settled which way the next bytes take, so that NVLink never
/// rests.
constexpr std::size_t pieces_ahead = 2;

/// How fast one of the two ways is.
class Pace {
 public:
  explicit Pace(double expected) noexcept : bytes_per_ns_(expected) {}
  /// `bytes` have arrived in all. The first ones tell when it began, not how fast it is.
  void arrived(std::uint64_t bytes) noexcept {
    const auto now = std::chrono::steady_clock::now();
    if (first_bytes_ == 0) {
      first_bytes_ = bytes;
      first_ = now;
    } else if (now > first_) {
      bytes_per_ns_ = static_cast<double>(bytes - first_bytes_) /
                      std::chrono::duration<double, std::nano>(now - first_).count();
    }
  }
  [[nodiscard]] double ns_for(std::uint64_t bytes) const noexcept {
    return static_cast<double>(bytes) / bytes_per_ns_;
  }

 private:
  double bytes_per_ns_;
  std::uint64_t first_bytes_ = 0;
  std::chrono::steady_clock::time_point first_{};
};

/// Offsets count from the payload's begin for what NVLink carries, and from its end for the tail.
class StripedPull final : public Pull {
 public:
  StripedPull(const Offer& offer, const Place& destination, ReachedMemory memory, cuda::ContextRef context)
      : plan_(offer.payload_bytes),
        bytes_(offer.payload_bytes),
        piece_bytes_(std::max(bytes_ / pieces, plan_.chunk)),
        source_(memory.first),
        destination_(reinterpret_cast<CUdeviceptr>(destination.buffer.pointer) +
                     static_cast<CUdeviceptr>(destination.layout.first_offset())),
        memory_(std::move(memory)),
        context_(std::move(context)) {}

  ~StripedPull() override {
    for (Copy& copy : front_copies_) static_cast<void>(copy.copied.wait());
    for (Copy& copy : tail_copies_) static_cast<void>(copy.copied.wait());
    close_tail();
  }

  /// Queues what NVLink will carry in any case. `declined` as long as no byte has moved.
  [[nodiscard]] Status begin() {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (Status made = context_->next_pull_stream(front_stream_); !made.ok()) return made;
    if (Status made = context_->stream(cuda::Lane::upload, tail_stream_); !made.ok()) return made;
    if (Status ordered = cuda::order_after_application(context_, front_stream_); !ordered.ok())
      return ordered;
    if (Status ordered = cuda::order_after_application(context_, tail_stream_); !ordered.ok()) return ordered;
    // All at once, so that it goes on while the receiver is busy elsewhere. Half of what is left at a time:
    // few copies, as each costs NVLink a rest, and yet its pace is known in time.
    while (front_ < bytes_ - plan_.tail) {
      const std::uint64_t left = bytes_ - plan_.tail - front_;
      if (Status queued = pull(std::min(std::max(left / 2, piece_bytes_), left)); !queued.ok()) return queued;
    }
    return {};
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
  struct Copy {
    std::uint64_t end;
    cuda::Event copied;
  };
  using Copies = std::deque<Copy>;

  [[nodiscard]] Status step() {
    if (Status looked = look_for_arrivals(front_copies_, front_arrived_, front_pace_); !looked.ok())
      return looked;
    const std::uint64_t fetched_before = fetched_;
    if (Status looked = look_for_arrivals(tail_copies_, fetched_, tail_pace_); !looked.ok()) return looked;
    if (fetched_ != fetched_before) tail_->header().consumed.store(fetched_, std::memory_order_release);
    if (front_ + taken_ == bytes_) return {};
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    if (tail_ != nullptr) {
      if (Status fetched = fetch_chunks(); !fetched.ok()) return fetched;
      ask_for_chunks();
    }
    return pull_what_is_left();
  }

  [[nodiscard]] static Status look_for_arrivals(Copies& copies, std::uint64_t& arrived, Pace& pace) noexcept {
    const std::uint64_t before = arrived;
    while (!copies.empty()) {
      bool done = false;
      if (Status state = copies.front().copied.query(done); !state.ok()) return state;
      if (!done) break;
      arrived = copies.front().end;
      copies.pop_front();
    }
    if (arrived != before) pace.arrived(arrived);
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
      if (Status copied = copy(tail_copies_, taken_ + plan_.chunk, offset,
                               reinterpret_cast<CUdeviceptr>(chunk), plan_.chunk, tail_stream_);
          !copied.ok()) {
        return copied;
      }
      taken_ += plan_.chunk;
    }
    return {};
  }

  void ask_for_chunks() noexcept {
    const std::uint64_t before = asked_;
    while (asking_ && asked_ + plan_.chunk <= plan_.tail && asked_ + plan_.chunk <= fetched_ + plan_.ring &&
           front_ + asked_ + plan_.chunk <= bytes_ && pcie_will_be_first()) {
      asked_ += plan_.chunk;
    }
    if (asked_ != before) tail_->header().wanted.store(asked_, std::memory_order_release);
  }

  /// Would one more chunk arrive before NVLink has brought everything else? It goes two ways, one after the
  /// other, behind those that were asked for.
  [[nodiscard]] bool pcie_will_be_first() const noexcept {
    const std::uint64_t over_pcie = asked_ - fetched_ + 2 * plan_.chunk;
    const std::uint64_t over_nvlink = bytes_ - asked_ - plan_.chunk - front_arrived_;
    return tail_pace_.ns_for(over_pcie) <= front_pace_.ns_for(over_nvlink);
  }

  void ask_for_no_more() noexcept {
    asking_ = false;
    asked_ = taken_;
    tail_->header().wanted.store(asked_, std::memory_order_release);
  }

  /// Over NVLink: what the sender was not asked for, and once that has arrived, what it has not brought.
  [[nodiscard]] Status pull_what_is_left() {
    while (front_copies_.size() < pieces_ahead) {
      if (front_ + asked_ == bytes_ && asked_ != taken_ && front_copies_.empty()) ask_for_no_more();
      if (front_ + asked_ == bytes_) break;
      if (Status queued = pull(std::min(piece_bytes_, bytes_ - asked_ - front_)); !queued.ok()) return queued;
    }
    return {};
  }

  [[nodiscard]] Status pull(std::uint64_t bytes) {
    Status copied = copy(front_copies_, front_ + bytes, front_, source_ + front_, bytes, front_stream_);
    front_ += bytes;
    return copied;
  }

  [[nodiscard]] Status copy(Copies& copies, std::uint64_t end, std::uint64_t offset, CUdeviceptr from,
                            std::uint64_t bytes, CUstream stream) {
    const cuda::Driver* driver = cuda::driver();
    if (driver == nullptr) return cuda::no_driver();
    cuda::Event copied;
    if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
    copies.push_back({end, std::move(copied)});
    Status issued =
        cuda::check(driver->cuMemcpyAsync(destination_ + offset, from, bytes, stream), "cuMemcpyAsync");
    Status recorded = copies.back().copied.record(stream);
    return issued.ok() ? recorded : issued;
  }

  void close_tail() noexcept {
    if (tail_ != nullptr) tail_->header().wanted.store(gave_up, std::memory_order_release);
    tail_ = nullptr;
  }

  const TailPlan plan_;
  const std::uint64_t bytes_;
  const std::uint64_t piece_bytes_;
  const CUdeviceptr source_;
  const CUdeviceptr destination_;
  const ReachedMemory memory_;  ///< kept mapped
  cuda::ContextRef context_;
  CUstream front_stream_ = nullptr;
  CUstream tail_stream_ = nullptr;
  std::shared_ptr<MappedRegion> tail_;
  Copies front_copies_;
  Copies tail_copies_;
  std::uint64_t front_ = 0;          ///< queued over NVLink
  std::uint64_t front_arrived_ = 0;  ///< of it
  std::uint64_t asked_ = 0;          ///< of the sender
  std::uint64_t taken_ = 0;          ///< of it, queued over PCIe
  std::uint64_t fetched_ = 0;        ///< of it, arrived
  bool asking_ = true;
  Pace front_pace_{396};  ///< two H200, GB/s, until it is known
  Pace tail_pace_{45};
  Status failure_;
};

Verdict judge(const Offer& offer, const Place& destination) {
  // where the sender offers no tail, or the other roads refuse as well, they say why
  if (offer.tail.segment_bytes == 0 || offer.contiguous == 0 || sender_of(offer) == this_process()) return {};
  if (!lives_on_device(destination.buffer.kind) || !destination.layout.is_contiguous()) return {};
  const cuda::ContextRef context = context_to_reach(offer, destination);
  if (context == nullptr || !cuda::has_nvlink(context->device(), sender_device(offer))) return {};
  const Verdict verdict = judge_reach(offer, destination);
  return verdict.accepted ? Verdict{true, "NVLink and PCIe together"} : Verdict{};
}

class StripedRoad final : public Transport {
 public:
  [[nodiscard]] Road road() const noexcept override { return Road::striped; }

  [[nodiscard]] Verdict accepts(const Offer& offer, const Place& destination) const noexcept override {
    return guarded_verdict(judge, offer, destination, "");  // the roads that carry less say why
  }

  [[nodiscard]] Status start(const Offer& published, const Place& destination,
                             std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer offer = published;  // checked and used in one state, whatever its owner does to it
      if (offer.payload_bytes > destination.layout.bytes())
        return {Code::bad_argument, "a message longer than its receive"};
      const cuda::ContextRef context = context_to_reach(offer, destination);
      if (context == nullptr) return {Code::declined, "this process has no CUDA context"};
      ReachedMemory memory;
      if (Status reached = reach(offer, offer.payload_bytes, context, memory); !reached.ok()) return reached;
      auto made = std::make_unique<StripedPull>(offer, destination, std::move(memory), context);
      if (Status begun = made->begin(); !begun.ok()) return {Code::declined, begun.where(), begun.detail()};
      made->open_tail(offer);
      pull = std::move(made);
      return {};
    });
  }
};

}  // namespace

Transport& striped_road() noexcept {
  static StripedRoad road;
  return road;
}

}  // namespace penstock::transports
