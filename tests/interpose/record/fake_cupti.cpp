#include "fake_cupti.hpp"

#include <pthread.h>

#include <cstring>
#include <mutex>

using penstock::test::FakeCuptiBehaviour;
using penstock::test::FakeCuptiCall;
using penstock::test::FakeCuptiControl;

namespace {

bool deliver(const void* records, std::size_t bytes);
std::vector<FakeCuptiCall> calls_made();

std::mutex mutex;
std::vector<FakeCuptiCall> made;
CUpti_BuffersCallbackRequestFunc buffer_requested = nullptr;
CUpti_BuffersCallbackCompleteFunc buffer_completed = nullptr;

std::size_t size_of(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return sizeof(CUpti_ActivityAPI);
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

FakeCuptiControl fake_cupti_control{.calls = calls_made, .deliver = deliver};

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = fake_cupti_control.behaviour == FakeCuptiBehaviour::unknown_version ? 140000 : 130001;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "a result of the fake";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (fake_cupti_control.behaviour == FakeCuptiBehaviour::knows_no_threads) return CUPTI_ERROR_NOT_SUPPORTED;
  return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc timestamp) {
  const std::lock_guard lock(mutex);
  made.push_back(FakeCuptiCall::register_timestamp_callback);
  fake_cupti_control.timestamp = timestamp;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  const std::lock_guard lock(mutex);
  made.push_back(FakeCuptiCall::register_callbacks);
  buffer_requested = requested;
  buffer_completed = completed;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  made.push_back(FakeCuptiCall::enable_kind);
  if (fake_cupti_control.behaviour == FakeCuptiBehaviour::already_subscribed) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  if (fake_cupti_control.behaviour == FakeCuptiBehaviour::traces_no_calls &&
      kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    return CUPTI_ERROR_NOT_SUPPORTED;
  }
  fake_cupti_control.enabled_kinds.push_back(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(mutex);
  std::erase(fake_cupti_control.enabled_kinds, static_cast<int>(kind));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(std::uint32_t call, std::uint8_t enable) {
  const std::lock_guard lock(mutex);
  made.push_back(FakeCuptiCall::enable_driver_call);
  if (fake_cupti_control.behaviour == FakeCuptiBehaviour::traces_no_calls) return CUPTI_ERROR_NOT_SUPPORTED;
  if (enable == 0) {
    fake_cupti_control.disabled_driver_calls.insert(call);
  } else {
    fake_cupti_control.disabled_driver_calls.erase(call);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(std::uint32_t call, std::uint8_t enable) {
  const std::lock_guard lock(mutex);
  if (enable == 0) fake_cupti_control.disabled_runtime_calls.insert(call);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  const std::lock_guard lock(mutex);
  made.push_back(flag == 0 ? FakeCuptiCall::flush : FakeCuptiCall::forced_flush);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) {
  std::uint8_t* next =
      *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + size_of(**record);
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(mutex);
  *dropped = fake_cupti_control.dropped;
  fake_cupti_control.dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t) {
  const std::lock_guard lock(mutex);
  made.push_back(FakeCuptiCall::push);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind, std::uint64_t*) {
  const std::lock_guard lock(mutex);
  made.push_back(FakeCuptiCall::pop);
  return CUPTI_SUCCESS;
}
}

namespace {

/// So that a test may ask in a forked child too.
[[gnu::constructor]] void keep_the_lock_usable_over_fork() {
  pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
}

std::vector<FakeCuptiCall> calls_made() {
  const std::lock_guard lock(mutex);
  return made;
}

bool deliver(const void* records, std::size_t bytes) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0;
  std::size_t most_records = 0;
  buffer_requested(&buffer, &size, &most_records);
  if (buffer == nullptr || size < bytes) return false;
  std::memcpy(buffer, records, bytes);
  buffer_completed(nullptr, 0, buffer, size, bytes);
  return true;
}

}  // namespace
