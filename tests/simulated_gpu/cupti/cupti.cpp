// CUPTI's activity interface: observes the simulated driver while a kind is enabled and writes its activities
// into the tool's buffers. Records appear when their activity is finished, so a forced flush finds no half
// ones.
#include <cupti.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "record_buffers.hpp"
#include "records.hpp"
#include "simulated_gpu.h"

namespace simulated_gpu::activity {
namespace {

constexpr std::size_t kind_limit = 64;

struct Collection {
  std::array<std::atomic<bool>, kind_limit> enabled{};
  std::atomic<int> traced_driver_calls{0};  // by cuptiActivityEnableDriverApi
  std::atomic<CUpti_TimestampCallbackFunc> clock{nullptr};
  std::atomic<bool> threads_by_system{false};
  RecordBuffers buffers;

  [[nodiscard]] bool wants(CUpti_ActivityKind kind) const {
    return enabled[kind].load(std::memory_order_relaxed);
  }
};

/// Never destroyed: activities may finish until the process ends.
Collection& collection() {
  static auto& only = *new Collection;
  return only;
}

/// The calling thread's external ids, innermost last, by kind.
thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>> external_ids;

std::uint64_t now_ns() {
  if (const CUpti_TimestampCallbackFunc clock = collection().clock.load(std::memory_order_relaxed))
    return clock();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);  // CUPTI's own
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

// The call's length, and which call it is, are not simulated.
void write_call(std::uint32_t correlation) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.start = record.end = now_ns();
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = collection().threads_by_system.load(std::memory_order_relaxed)
                        ? static_cast<std::uint32_t>(gettid())
                        : static_cast<std::uint32_t>(pthread_self());
  record.correlationId = correlation;
  collection().buffers.write(record);
}

// As NVIDIA's, only of calls that are traced, which is why a recorder must enable those too.
void issued(std::uint32_t correlation) {
  Collection& all = collection();
  const bool traced = all.wants(CUPTI_ACTIVITY_KIND_DRIVER) || all.wants(CUPTI_ACTIVITY_KIND_RUNTIME) ||
                      all.traced_driver_calls.load(std::memory_order_relaxed) > 0;
  if (!traced) return;
  if (all.wants(CUPTI_ACTIVITY_KIND_DRIVER)) write_call(correlation);
  if (!all.wants(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  for (const auto& [kind, ids] : external_ids) {
    if (ids.empty()) continue;
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = kind;
    record.externalId = ids.back();
    record.correlationId = correlation;
    all.buffers.write(record);
  }
}

void finished(const SimulatedGpuActivity* activity) {
  Collection& all = collection();
  if (!all.wants(kind_of(*activity))) return;
  switch (activity->kind) {
    case SIMULATED_GPU_KERNEL:
      return all.buffers.write(kernel_record(*activity));
    case SIMULATED_GPU_COPY:
      return all.buffers.write(copy_record(*activity));
    case SIMULATED_GPU_PEER_COPY:
      return all.buffers.write(peer_copy_record(*activity));
    case SIMULATED_GPU_SET:
      return all.buffers.write(set_record(*activity));
    case SIMULATED_GPU_WAIT:
      return all.buffers.write(wait_record(*activity));
  }
}

constexpr SimulatedGpuObserver observer{now_ns, issued, finished};

CUptiResult set_enabled(CUpti_ActivityKind kind, bool enabled) {
  if (kind != CUPTI_ACTIVITY_KIND_RUNTIME && record_bytes(kind) == 0) {
    simulated_gpu_say_unknown("activity kind", std::to_string(kind).c_str());
    return CUPTI_ERROR_INVALID_KIND;
  }
  Collection& all = collection();
  all.enabled[kind] = enabled;
  bool any = false;
  for (const auto& one : all.enabled) any = any || one;
  simulated_gpu_observe(any ? &observer : nullptr);
  return CUPTI_SUCCESS;
}

CUptiResult injected(const char* function) {
  return static_cast<CUptiResult>(simulated_gpu_injected_fault(function));
}

}  // namespace
}  // namespace simulated_gpu::activity

using namespace simulated_gpu::activity;

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  switch (result) {
    case CUPTI_SUCCESS:
      *text = "CUPTI_SUCCESS";
      break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
      break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
      break;
    default:
      *text = "CUPTI error of the simulated GPU";
      break;
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = now_ns();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (const CUptiResult fault = injected(__func__); fault != CUPTI_SUCCESS) return fault;
  collection().threads_by_system = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return CUPTI_SUCCESS;
}

namespace {

struct Subscriber {
  CUpti_CallbackFunc callback = nullptr;
  void* userdata = nullptr;
  std::array<std::atomic<bool>, 2> watches{};  ///< cuProfilerStop, cuProfilerStart
};
Subscriber subscriber;
constexpr CUpti_CallbackId profiler_start = 308, profiler_stop = 309;

void profiler_was_called(int is_start, int has_ended) {
  if (!subscriber.watches[is_start != 0 ? 1 : 0]) return;
  CUpti_CallbackData data{};
  data.callbackSite = has_ended != 0 ? CUPTI_API_EXIT : CUPTI_API_ENTER;
  data.functionName = is_start != 0 ? "cuProfilerStart" : "cuProfilerStop";
  subscriber.callback(subscriber.userdata, CUPTI_CB_DOMAIN_DRIVER_API,
                      is_start != 0 ? profiler_start : profiler_stop, &data);
}

}  // namespace

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* userdata) {
  if (const CUptiResult fault = injected(__func__); fault != CUPTI_SUCCESS) return fault;
  if (handle == nullptr || callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (subscriber.callback != nullptr) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscriber.callback = callback;
  subscriber.userdata = userdata;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  const bool is_ours = handle == reinterpret_cast<CUpti_SubscriberHandle>(&subscriber);
  if (!is_ours || domain != CUPTI_CB_DOMAIN_DRIVER_API || (id != profiler_start && id != profiler_stop))
    return CUPTI_ERROR_INVALID_PARAMETER;
  subscriber.watches[id == profiler_start ? 1 : 0] = enable != 0;
  simulated_gpu_watch_profiler(profiler_was_called);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock) {
  if (const CUptiResult fault = injected(__func__); fault != CUPTI_SUCCESS) return fault;
  collection().clock = clock;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  if (const CUptiResult fault = injected(__func__); fault != CUPTI_SUCCESS) return fault;
  if (requested == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  collection().buffers.use(requested, completed);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (const CUptiResult fault = injected(__func__); fault != CUPTI_SUCCESS) return fault;
  return set_enabled(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  return set_enabled(kind, false);
}

// Which call it is makes no difference here: from the first one on, all that issue work are traced.
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t enable) {
  if (const CUptiResult fault = injected(__func__); fault != CUPTI_SUCCESS) return fault;
  collection().traced_driver_calls += enable != 0 ? 1 : -1;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t) {
  collection().buffers.flush();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  uint8_t* const next =
      *record == nullptr ? buffer : reinterpret_cast<uint8_t*>(*record) + record_bytes((*record)->kind);
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *dropped = collection().buffers.take_dropped();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  external_ids[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last_id) {
  auto& ids = external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last_id != nullptr) *last_id = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}
