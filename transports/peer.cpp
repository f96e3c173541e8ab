// The peer road: the receiver maps the sender's allocation by CUDA IPC and its copy engine pulls over NVLink
// or PCIe. The sender's process takes no part in it. Where a device is hidden from this process by
// CUDA_VISIBLE_DEVICES, IPC may work all the same: it is tried, and a refusal remembered.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "transports/bounce_pull.hpp"
#include "transports/cuda/devices.hpp"
#include "transports/cuda/ipc_cache.hpp"
#include "transports/guarded.hpp"
#include "transports/process.hpp"
#include "transports/roads.hpp"

namespace penstock::transports {
namespace {

cuda::Uuid device_of(const Offer& offer) noexcept {
  cuda::Uuid uuid;
  std::copy(std::begin(offer.device_uuid), std::end(offer.device_uuid), uuid.begin());
  return uuid;
}

ProcessIdentity sender_of(const Offer& offer) noexcept {
  return {offer.process_id, offer.process_nonce};
}

/// Pairs of devices between which mapping was refused for good.
class Refusals {
 public:
  struct Pair {
    ProcessIdentity sender;
    cuda::Uuid sender_device;
    int device;
    friend bool operator==(const Pair&, const Pair&) = default;
  };

  [[nodiscard]] bool holds(const Pair& pair) const {
    const std::lock_guard lock(mutex_);
    return std::find(pairs_.begin(), pairs_.end(), pair) != pairs_.end();
  }
  void add(const Pair& pair) {
    constexpr std::size_t most_remembered = 64;
    const std::lock_guard lock(mutex_);
    if (pairs_.size() == most_remembered) pairs_.erase(pairs_.begin());
    pairs_.push_back(pair);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Pair> pairs_;
};

/// Would the next message between the two devices fail in the same way? Invalid handles and values may come
/// from memory that the sender has just freed, and memory may be short for a while.
bool is_lasting(const Status& failure) noexcept {
  return failure.code() == Code::cuda_failed && failure.detail() != CUDA_ERROR_INVALID_HANDLE &&
         failure.detail() != CUDA_ERROR_INVALID_VALUE;
}

bool lies_in_its_range(const Offer& offer) noexcept {
  const std::uint64_t offset = offer.address - offer.range_base;
  return offer.address >= offer.range_base && offset <= offer.range_bytes &&
         offer.payload_bytes <= offer.range_bytes - offset;
}

class PeerRoad final : public Transport {
 public:
  [[nodiscard]] Road road() const noexcept override { return Road::peer; }

  [[nodiscard]] Verdict accepts(const Offer& offer, const Place& destination) const noexcept override {
    Verdict verdict{false, "out of memory"};
    static_cast<void>(guarded([&]() -> Status {
      verdict = judge(offer, destination);
      return {};
    }));
    return verdict;
  }

  [[nodiscard]] Status start(const Offer& published, const Place& destination,
                             std::unique_ptr<Pull>& pull) noexcept override {
    return guarded([&]() -> Status {
      const Offer offer = published;  // checked and used in one state, whatever its owner does to it
      if (!lies_in_its_range(offer)) return {Code::peer_lost, "sender's offer"};
      const cuda::ContextRef context = context_for(offer, destination);
      if (context == nullptr) return {Code::declined, "this process has no CUDA context"};
      const cuda::RemoteRange range{sender_of(offer), offer.buffer_id, offer.range_base, offer.range_bytes};
      CUipcMemHandle handle;
      std::memcpy(&handle, offer.ipc_handle, sizeof(handle));
      std::shared_ptr<const cuda::MappedRange> mapped;
      if (Status opened = cuda::IpcCache::of_process().map(range, handle, context, mapped); !opened.ok()) {
        return explain(opened, offer, context->device());
      }
      const CUdeviceptr first = mapped->address() + (offer.address - offer.range_base);
      CopySource source{reinterpret_cast<const void*>(first), offer.payload_bytes};
      source.keeper = mapped;
      Status started = start_copy(source, destination, context, pull);
      if (started.code() != Code::cuda_failed) return started;
      cuda::IpcCache::of_process().drop(mapped);
      return {Code::declined, started.where(), started.detail()};
    });
  }

 private:
  /// Device memory is copied into by its own context; host memory by one on the sender's device if there is
  /// one.
  [[nodiscard]] static cuda::ContextRef context_for(const Offer& offer, const Place& destination) {
    return lives_on_device(destination.buffer.kind) ? cuda::Context::of(destination.buffer)
                                                    : cuda::Context::any(cuda::device_of(device_of(offer)));
  }

  [[nodiscard]] Verdict judge(const Offer& offer, const Place& destination) const {
    // its own handles cannot be opened; why the local road was not taken says that road
    if (sender_of(offer) == this_process()) return {false, ""};
    if (offer.ipc_exported == 0) return {false, why_not_exported(offer)};
    if (offer.contiguous == 0) return {false, "sender's payload is not contiguous"};
    const cuda::ContextRef context = context_for(offer, destination);
    if (context == nullptr) return {false, "this process has no CUDA context"};
    if (refusals_.holds({sender_of(offer), device_of(offer), context->device()})) {
      return {false, "the driver refused to map the sender's memory"};
    }
    const int sender_device = cuda::device_of(device_of(offer));
    if (sender_device < 0) return {true, "CUDA IPC with a device that is hidden from this process"};
    if (sender_device == context->device()) return {true, "CUDA IPC on one device"};
    if (!cuda::can_access(context->device(), sender_device)) return {false, "peer access is off"};
    return {true, "CUDA IPC between devices with peer access"};
  }

  [[nodiscard]] static const char* why_not_exported(const Offer& offer) noexcept {
    switch (offer.kind) {
      case BufferKind::async_pool:
        return "sender's memory is from an async pool and cannot be exported";
      case BufferKind::virtual_memory:
        return "sender's memory is mapped by cuMemMap and cannot be exported";
      case BufferKind::managed:
        return "sender's memory is managed and cannot be exported";
      case BufferKind::pinned:
      case BufferKind::pageable:
        return "sender's memory is host memory";
      case BufferKind::device:
      case BufferKind::unknown:
        break;
    }
    return offer.contiguous == 0 ? "sender's payload is not contiguous"
                                 : "sender's memory could not be exported";
  }

  [[nodiscard]] Status explain(const Status& failure, const Offer& offer, int device) {
    if (!is_alive(sender_of(offer))) return {Code::peer_lost, failure.where(), failure.detail()};
    if (failure.code() == Code::peer_lost) return failure;
    if (is_lasting(failure)) refusals_.add({sender_of(offer), device_of(offer), device});
    return {Code::declined, failure.where(), failure.detail()};
  }

  Refusals refusals_;
};

}  // namespace

Transport& peer_road() noexcept {
  static auto* const road = new PeerRoad;  // never destroyed: a thread may still be receiving at exit
  return *road;
}

}  // namespace penstock::transports
