#include "interpose/record/gpu/activity_writer.hpp"

#include <cstddef>

#include "interpose/record/file/recording.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::record {

namespace {

template <typename Record>
const Record& as(const CUpti_Activity& record) noexcept {
  return reinterpret_cast<const Record&>(record);
}

/// A shorter synchronisation found nothing to wait for. CUPTI reports cuEventQuery and cuStreamQuery as
/// synchronisations (0.3 µs each, CUPTI 13.0, H200), and programs that poll call them all the time: they were
/// 96 of 100 records of the Ising example. They do not differ from others, nor Penstock's own from the
/// application's.
constexpr std::uint64_t shortest_wait_ns = 2000;

const char* name_of(CUpti_ActivitySynchronizationType type) noexcept {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return "event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT:
      return "stream wait event";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return "stream";
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE:
      return "context";
    default:
      return "unknown";
  }
}

}  // namespace

void ActivityWriter::write(const CUpti_Activity& record) noexcept {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto& kernel = as<CUpti_ActivityKernel10>(record);
      trace::DeviceActivity activity{};
      activity.name = kernel.name == nullptr ? trace::no_string : intern(kernel.name);
      write_activity(kernel, trace::RecordKind::kernel, activity);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto& copy = as<CUpti_ActivityMemcpy6>(record);
      trace::DeviceActivity activity{};
      activity.bytes = copy.bytes;
      activity.copy_kind = copy.copyKind;
      write_activity(copy, trace::RecordKind::device_copy, activity);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto& copy = as<CUpti_ActivityMemcpyPtoP4>(record);
      trace::DeviceActivity activity{};
      activity.bytes = copy.bytes;
      activity.copy_kind = copy.copyKind;
      write_activity(copy, trace::RecordKind::device_copy, activity);
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto& set = as<CUpti_ActivityMemset4>(record);
      trace::DeviceActivity activity{};
      activity.bytes = set.bytes;
      write_activity(set, trace::RecordKind::device_memset, activity);
      break;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      write_synchronisation(record);
      break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto& call = as<CUpti_ActivityAPI>(record);
      traced_calls_.fetch_add(1, std::memory_order_relaxed);
      clock_.call_began(call.correlationId, call.start);
      if (knows_threads_) calls_.call_was_by(call.correlationId, {call.threadId, call.start});
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto& external = as<CUpti_ActivityExternalCorrelation>(record);
      if (external.externalKind == own_work_kind) calls_.call_is_own(external.correlationId);
      break;
    }
    default:
      break;
  }
}

template <typename Source>
void ActivityWriter::write_activity(const Source& source, trace::RecordKind kind,
                                    trace::DeviceActivity record) noexcept {
  if (source.end == 0 || source.end < source.start) {
    ++incomplete_;
    return;
  }
  record.begin_ns = source.start;
  record.end_ns = source.end;
  record.stream = source.streamId;
  record.correlation = source.correlationId;
  record.device = static_cast<std::uint8_t>(source.deviceId);
  record.kind = kind;
  clock_.activity(record.correlation, {source.contextId, record.stream}, record.begin_ns, record.end_ns);
  put(record);
}

void ActivityWriter::write_synchronisation(const CUpti_Activity& record) noexcept {
  const auto& source = as<CUpti_ActivitySynchronization2>(record);
  if (source.end == 0 || source.end < source.start) {
    ++incomplete_;
    return;
  }
  if (source.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE) {
    clock_.stream_was_synchronised(source.correlationId, {source.contextId, source.streamId}, source.end);
  } else if (source.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE) {
    clock_.context_was_synchronised(source.correlationId, source.contextId, source.end);
  }
  // here a stream waits and not the host, so it is recorded however short it is
  const bool stream_waits = source.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
  if (!stream_waits && source.end - source.start < shortest_wait_ns) return;
  trace::CudaSynchronisation synchronisation{};
  synchronisation.begin_ns = source.start;
  synchronisation.end_ns = source.end;
  synchronisation.what = intern(name_of(source.type));
  synchronisation.stream = source.streamId;
  synchronisation.correlation = source.correlationId;
  synchronisation.kind = trace::RecordKind::cuda_synchronisation;
  put(synchronisation);
}

template <typename Record>
void ActivityWriter::put(Record& record) noexcept {
  if (recording().is_behind_window(record.begin_ns)) return;
  record.own = calls_.is_own(record.correlation) ? 1 : 0;
  constexpr bool has_thread = requires {
    record.thread_id;
  };
  if constexpr (has_thread) {
    const IssuingCalls::Issue issue = calls_.issue_of(record.correlation);
    record.thread_id = issue.thread_id;
    record.issued_ns = issue.at_ns;
  }
  Lane* lane = lane_of_this_thread();
  std::byte* place = lane == nullptr ? nullptr : lane->append(&record);
  if (lane != nullptr) calls_.keep_since(lane->oldest_block());
  if (place == nullptr) {
    recording().drop(&record);
  } else if (record.own == 0) {
    IssuingCalls::Written where{.own = reinterpret_cast<std::uint8_t*>(place + offsetof(Record, own)),
                                .block = lane->block()};
    if constexpr (has_thread) {
      where.thread_id = reinterpret_cast<std::uint32_t*>(place + offsetof(Record, thread_id));
      where.issued_ns = reinterpret_cast<std::uint64_t*>(place + offsetof(Record, issued_ns));
    }
    calls_.remember(record.correlation, where);
  }
}

}  // namespace penstock::record
