// Tells when what a record stands for happened, by its bytes alone. Knows no writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/record/trace_format.hpp"

namespace penstock::record {

struct RecordTimes {
  trace::RecordKind kind = trace::RecordKind::none;
  bool is_timed = false;       ///< false: a name or the like
  std::uint64_t begin_ns = 0;  ///< or the post
  std::uint64_t end_ns = 0;    ///< or the completion
};

[[nodiscard]] inline RecordTimes times_of(const void* record) noexcept {
  RecordTimes times;
  std::memcpy(&times.kind, static_cast<const std::byte*>(record) + trace::record_bytes - 1, 1);
  switch (times.kind) {
    case trace::RecordKind::mpi_call:
    case trace::RecordKind::message_half:
    case trace::RecordKind::collective_operation:
    case trace::RecordKind::transfer:
    case trace::RecordKind::kernel:
    case trace::RecordKind::device_copy:
    case trace::RecordKind::device_memset:
    case trace::RecordKind::cuda_synchronisation:
    case trace::RecordKind::range:
    case trace::RecordKind::gpu_sample:
    case trace::RecordKind::nccl_call:
      times.is_timed = true;
      std::memcpy(&times.begin_ns, record, sizeof times.begin_ns);
      std::memcpy(&times.end_ns, static_cast<const std::byte*>(record) + sizeof times.begin_ns,
                  sizeof times.end_ns);
      break;
    default:
      break;
  }
  return times;
}

}  // namespace penstock::record
