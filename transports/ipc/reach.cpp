#include "transports/ipc/reach.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <vector>

#include "transports/cuda/devices.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/process.hpp"

namespace penstock::transports {
namespace {

/// Pairs of devices between which the driver refused to map memory for good.
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
  mutable CallersMutex mutex_;
  std::vector<Pair> pairs_;
};

Refusals& refusals() {
  static auto* const instance = new Refusals;  // never destroyed: a thread may still be receiving at exit
  return *instance;
}

/// Returns whether the next message between the two devices would fail in the same way. Invalid handles and
/// values may come from memory that the sender has just freed, and memory may be short for a while. The
/// driver calls an allocation already mapped as long as the program, or a copy under way, keeps an earlier
/// one mapped that had a part of its place in a block of small allocations.
bool is_lasting(const Status& failure) noexcept {
  constexpr std::array passing = {CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_VALUE,
                                  CUDA_ERROR_ALREADY_MAPPED};
  return failure.code() == Code::cuda_failed && std::ranges::find(passing, failure.detail()) == passing.end();
}

bool lies_in_its_range(const Offer& offer, std::uint64_t bytes) noexcept {
  const std::uint64_t offset = offer.address - offer.range_base;
  return offer.address >= offer.range_base && offset <= offer.range_bytes &&
         bytes <= offer.range_bytes - offset;
}

Status explain(const Status& failure, const Offer& offer, int device) {
  if (!is_alive(sender_of(offer))) return {Code::peer_lost, failure.where(), failure.detail()};
  if (failure.code() == Code::peer_lost) return failure;
  if (is_lasting(failure)) refusals().add({sender_of(offer), device_of(offer), device});
  return {Code::declined, failure.where(), failure.detail()};
}

cuda::RemoteRange range_of(const Offer& offer) noexcept {
  return {sender_of(offer), offer.buffer_id, offer.range_base, offer.range_bytes};
}

Verdict judge_pair(const Payload& payload) {
  const Offer& offer = payload.offer;
  const cuda::ContextRef& context = payload.context();
  if (context == nullptr) return {false, "this process has no CUDA context"};
  const int own_device = context->device();
  if (refusals().holds({sender_of(offer), device_of(offer), own_device})) {
    return {false, "the driver refused to map the sender's memory"};
  }
  const int device = payload.sender_device();
  if (device < 0) return {true, "CUDA IPC with a device that is hidden from this process"};
  if (device == own_device) return {true, "CUDA IPC on one device"};
  if (!cuda::can_access(own_device, device)) return {false, "peer access is off"};
  return {true, "CUDA IPC between devices with peer access"};
}

}  // namespace

const Verdict& judge_reach(const Payload& payload) {
  if (!payload.judged_reach) payload.judged_reach = judge_pair(payload);
  return *payload.judged_reach;
}

Status reach(const Payload& payload, std::uint64_t bytes, ReachedMemory& memory) {
  const Offer& offer = payload.offer;
  const cuda::ContextRef& context = payload.context();
  if (context == nullptr) return {Code::declined, "this process has no CUDA context"};
  if (!lies_in_its_range(offer, bytes)) return {Code::peer_lost, "sender's offer"};
  const cuda::RemoteRange range = range_of(offer);
  CUipcMemHandle handle;
  std::memcpy(&handle, offer.ipc_handle, sizeof(handle));
  if (Status opened = cuda::IpcCache::of_process().map(range, handle, context, memory.mapped); !opened.ok()) {
    return explain(opened, offer, context->device());
  }
  memory.first = memory.mapped->address() + (offer.address - offer.range_base);
  return {};
}

bool is_reached(const Payload& payload) {
  const cuda::ContextRef& context = payload.context();
  return context != nullptr && cuda::IpcCache::of_process().knows(range_of(payload.offer), context);
}

}  // namespace penstock::transports
