// The sender's half of the staged and the relayed transport (staged_send.hpp): copies source → region, a
// chunk at a time.
#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <utility>

#include "transports/copies/copy.hpp"
#include "transports/copy_selection/start_copy.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/watch.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/stream_order/earlier_work.hpp"
#include "transports/stream_order/readiness.hpp"
#include "transports/stream_order/stream_order.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

/// Payloads are cut into at least this many parts, so that both halves of the way still overlap.
constexpr std::size_t least_parts = 4;

struct ChunkSizes {
  std::size_t smallest;
  std::size_t largest;
  std::size_t ring_depth;  ///< chunks in a ring
  [[nodiscard]] std::size_t of(std::size_t payload_bytes) const noexcept {
    return std::clamp(std::bit_ceil(payload_bytes / least_parts + 1), smallest, largest);
  }
};
/// A depth of 4 is enough for host memory (H200).
ChunkSizes host_chunks() noexcept {
  return {256u << 10, tuning().staged_chunk, 4};
}
/// A depth of 2 is enough: a device's memory is so much faster than a link that one chunk is filled while the
/// other is fetched.
ChunkSizes device_chunks(int device) {
  return {512u << 10, tuning().of(cuda::best_link_of(device)).relayed_chunk, 2};
}

/// Sends of host memory in progress. The halves of several sends overlap with each other, so payloads need
/// not be cut, and several cores copy an uncut piece together.
std::atomic<unsigned> host_sends_at_work{0};

class RegionSend final : public StagedSend {
 public:
  RegionSend(const BufferView& source, const ChunkSizes& sizes, std::unique_ptr<StagingRegion> region,
             cuda::ContextRef context)
      : source_(source),
        cursor_(source_.layout),
        context_(std::move(context)),
        region_(std::move(region)),
        payload_bytes_(source_.layout.bytes()),
        chunk_bytes_(sizes.of(payload_bytes_)),
        first_chunk_bytes_(std::max(sizes.smallest, chunk_bytes_ / least_parts)) {
    if (context_ != nullptr) return;
    is_counted_ = true;
    if (host_sends_at_work.fetch_add(1, std::memory_order_relaxed) == 0) return;
    first_chunk_bytes_ = chunk_bytes_ = std::min(std::bit_ceil(payload_bytes_), sizes.largest);
  }

  ~RegionSend() override {
    count_out();
    joint_.reset();
    for (Chunk& chunk : in_flight_) static_cast<void>(chunk.copied.wait());
    if (produced_ < payload_bytes_ || !failure_.ok()) {
      header().produced.store(gave_up, std::memory_order_release);
    } else if (!abandoned_) {
      RegionPool::of_process().give_back(std::move(region_));
    }
  }

  [[nodiscard]] Status begin(Offer& offer) {
    region_->begin(payload_bytes_, offer);
    return failure_ = begin_copies(cuda::StreamUse::download);
  }
  /// Goes through memory of the source's device.
  [[nodiscard]] Status begin(cuda::RelaySlice memory, Offer& offer) {
    failure_ = region_->begin(payload_bytes_, std::move(memory), offer);
    return failure_.ok() ? failure_ = begin_copies(cuda::StreamUse::relay) : failure_;
  }

  [[nodiscard]] Status advance(bool& produced) noexcept override {
    if (failure_.ok()) failure_ = guarded([&] { return step(); });
    produced = failure_.ok() && produced_ == payload_bytes_;
    if (produced) count_out();
    return failure_;
  }

  [[nodiscard]] bool drained() const noexcept override {
    return region_->is_drained() || (watch_.is_due() && region_->lost_its_receiver());
  }

  void abandon() noexcept override { abandoned_ = true; }

 private:
  struct Chunk {
    std::size_t end;  ///< of the chunk, in the payload
    cuda::Event copied;
  };

  [[nodiscard]] RegionHeader& header() const noexcept { return region_->mapped().header(); }

  void count_out() noexcept {
    if (std::exchange(is_counted_, false)) host_sends_at_work.fetch_sub(1, std::memory_order_relaxed);
  }

  [[nodiscard]] Status begin_copies(cuda::StreamUse use) {
    ring_ = region_->ring();
    chunk_bytes_ = std::min(chunk_bytes_, ring_.bytes);
    if (context_ != nullptr) {
      const cuda::ContextScope scope(*context_);
      if (!scope.status().ok()) return scope.status();
      copies_block_ = ring_.side == Side::host && !region_->mapped().pin(context_);
      if (ring_.side == Side::host && !copies_block_) {
        if (Status started = start_jointly(); !started.ok() || joint_ != nullptr) return started;
      }
      if (copies_block_) use = cuda::StreamUse::blocking_download;
      if (Status made = context_->stream(use, stream_); !made.ok()) return made;
      if (copies_block_) return produce();
      if (Status ordered = cuda::order_after_application(context_, stream_, source_.handed_over_ns);
          !ordered.ok())
        return ordered;
    }
    return produce();
  }

  /// Starts one copy of a small, whole payload together with other copies of that time, as a separate copy
  /// costs some 10 µs.
  [[nodiscard]] Status start_jointly() {
    const bool is_whole = payload_bytes_ != 0 && payload_bytes_ <= ring_.bytes &&
                          source_.layout.is_contiguous() &&
                          source_.buffer.holds(source_.layout.first_offset(), payload_bytes_);
    if (!is_whole || payload_bytes_ > tuning().host_batched_to || !is_idle(source_)) return {};
    CopySource source{source_.first_byte(), payload_bytes_};
    source.is_managed = source_.buffer.kind == BufferKind::managed;
    BufferView room{{}, Layout::contiguous(payload_bytes_)};
    room.buffer.pointer = ring_.data;
    room.buffer.kind = BufferKind::pinned;
    room.buffer.range_base = reinterpret_cast<CUdeviceptr>(ring_.data);
    room.buffer.range_bytes = ring_.bytes;
    Status started = start_copy(source, room, context_, joint_);
    if (started.code() == Code::declined) return {};
    if (joint_ != nullptr) issued_ = payload_bytes_;
    return started;
  }

  [[nodiscard]] Status step_jointly() {
    bool copied = false;
    if (Status stepped = joint_->advance(copied); !stepped.ok() || !copied) return stepped;
    joint_.reset();
    publish(payload_bytes_);
    return {};
  }

  [[nodiscard]] Status step() {
    if (joint_ != nullptr) return step_jointly();
    while (!in_flight_.empty()) {
      bool done = false;
      if (Status state = in_flight_.front().copied.query(done); !state.ok()) return state;
      if (!done) break;
      publish(in_flight_.front().end);
      in_flight_.pop_front();
    }
    return issued_ < payload_bytes_ ? produce() : Status{};
  }

  /// Fills the free room: a GPU fills all of it, a CPU one chunk per call.
  [[nodiscard]] Status produce() {
    if (copies_block_ && !earlier_.is_done(source_)) return {};
    bool once = false;
    while (issued_ < payload_bytes_ && !once) {
      const std::size_t bytes = std::min(next_chunk_bytes(), payload_bytes_ - issued_);
      bool has_room = false;
      if (Status looked = look_for_room(bytes, has_room); !looked.ok() || !has_room) return looked;
      char* chunk = ring_.data + issued_ % ring_.bytes;
      if (context_ == nullptr) {
        if (Status copied = copy_out_host(chunk, source_, cursor_, bytes); !copied.ok()) return copied;
        issued_ += bytes;
        publish(issued_);
        once = true;
      } else if (Status issued = issue(chunk, bytes); !issued.ok()) {
        return issued;
      }
    }
    return {};
  }

  /// The first chunk is small so that the receiver can begin. Each next chunk is as large as all before it.
  /// Sizes are powers of two, as the ring's is, so that no chunk reaches past its end.
  [[nodiscard]] std::size_t next_chunk_bytes() const noexcept {
    return std::min(chunk_bytes_, std::max(first_chunk_bytes_, issued_));
  }

  [[nodiscard]] Status issue(char* chunk, std::size_t bytes) {
    const cuda::ContextScope scope(*context_);
    if (!scope.status().ok()) return scope.status();
    cuda::Event copied;
    if (Status taken = cuda::Context::take_event(context_, copied); !taken.ok()) return taken;
    in_flight_.push_back({issued_ + bytes, std::move(copied)});
    issued_ += bytes;
    Status copies = copy_out(chunk, ring_.side, source_, cursor_, bytes, stream_);
    Status recorded = in_flight_.back().copied.record(stream_);  // also behind copies that failed half way
    return copies.ok() ? recorded : copies;
  }

  [[nodiscard]] Status look_for_room(std::size_t bytes, bool& has_room) noexcept {
    const std::uint64_t consumed = header().consumed.load(std::memory_order_acquire);
    if (consumed == gave_up) return {Code::peer_lost, "the receiver"};
    if (consumed > produced_) return {Code::peer_lost, "receiver's progress counter"};
    has_room = issued_ + bytes - consumed <= ring_.bytes;
    if (has_room) {
      watch_.progress();
    } else if (watch_.is_due() && region_->lost_its_receiver()) {
      return {Code::peer_lost, "the receiver"};
    }
    return {};
  }

  void publish(std::size_t produced) noexcept {
    produced_ = produced;
    header().produced.store(produced, std::memory_order_release);
  }

  BufferView source_;
  LayoutCursor cursor_;
  cuda::ContextRef context_;  ///< null: the source is host memory
  CUstream stream_ = nullptr;
  /// The region is not pinned: a copy blocks its caller until all is done that it is ordered behind.
  bool copies_block_ = false;
  EarlierWork earlier_;  ///< waited for before such a copy
  std::unique_ptr<StagingRegion> region_;
  Ring ring_;
  const std::size_t payload_bytes_;
  std::size_t chunk_bytes_;
  std::size_t first_chunk_bytes_;
  std::unique_ptr<Pull> joint_;  ///< copies the whole payload, instead of the chunks
  std::deque<Chunk> in_flight_;
  std::size_t issued_ = 0;
  std::size_t produced_ = 0;
  bool abandoned_ = false;
  bool is_counted_ = false;  ///< in host_sends_at_work
  Status failure_;
  mutable Watch watch_;
};

}  // namespace

Status StagedSend::start(const BufferView& source, Staging staging, Offer& offer,
                         std::unique_ptr<StagedSend>& send) noexcept {
  return guarded([&]() -> Status {
    cuda::ContextRef context;
    if (lives_on_device(source.buffer.kind)) {
      context = cuda::Context::of(source.buffer);
      if (context == nullptr) return cuda::no_driver();
    }
    const bool on_device = staging == Staging::device_ring;
    if (on_device && context == nullptr) return {Code::bad_argument, "relaying of host memory"};
    const std::size_t payload_bytes = source.layout.bytes();
    const ChunkSizes sizes = on_device ? device_chunks(source.buffer.device) : host_chunks();
    const std::size_t ring_bytes = std::min(payload_bytes, sizes.ring_depth * sizes.of(payload_bytes));
    const std::size_t host_bytes = on_device                        ? 0
                                   : staging == Staging::host_whole ? payload_bytes
                                                                    : ring_bytes;
    std::unique_ptr<StagingRegion> region;
    if (Status taken = RegionPool::of_process().take(host_bytes, region); !taken.ok()) return taken;
    cuda::RelaySlice memory;
    if (on_device) {
      const cuda::ContextScope scope(*context);
      if (!scope.status().ok()) return scope.status();
      if (Status taken = cuda::RelaySlice::take(context, ring_bytes, memory); !taken.ok()) {
        RegionPool::of_process().give_back(std::move(region));
        return taken;
      }
    }
    auto made = std::make_unique<RegionSend>(source, sizes, std::move(region), std::move(context));
    Status begun = memory ? made->begin(std::move(memory), offer) : made->begin(offer);
    if (begun.ok()) {
      send = std::move(made);
    } else {
      offer.region.descriptor = -1;
    }
    return begun;
  });
}

void share_memory_among(unsigned processes) noexcept {
  StagingRegion::share_memory_among(processes);
}

bool may_buffer(std::size_t payload_bytes) noexcept {
  return StagingRegion::may_buffer(payload_bytes);
}

}  // namespace penstock::transports
