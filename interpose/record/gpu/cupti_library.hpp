// Opens libcupti at run time and provides a table of the functions that Penstock calls, or the reason why
// there is none. Knows no activity record.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

namespace penstock::record {

/// The library stays loaded until the process ends.
struct CuptiLibrary {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp_callback = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_dropped_records = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external_id = nullptr;
  // These tell of cuProfilerStart and cuProfilerStop as they are called.
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  /// Absent from libraries that do not know threads by gettid().
  CUptiResult (*set_thread_id_type)(CUpti_ActivityThreadIdType type) = nullptr;
  /// cuptiActivityEnableDriverApi; absent before CUDA 12.
  CUptiResult (*enable_driver_api)(std::uint32_t callback_id, std::uint8_t enable) = nullptr;
  /// cuptiActivityEnableRuntimeApi, of CUDA 13 only, whose runtime calls make no records of driver calls.
  CUptiResult (*enable_runtime_api)(std::uint32_t callback_id, std::uint8_t enable) = nullptr;
};

/// Tries PENSTOCK_CUPTI (a file), then the loader's search, the folder of a loaded libcudart, $CUDA_HOME,
/// $CUDA_PATH and /usr/local/cuda. Returns an empty string, or one line on why `library` was not filled.
[[nodiscard]] std::string open_cupti(CuptiLibrary& library);

/// Returns whether activity records of this version have the layout that this source reads: CUDA 12 and 13.
/// (From one version to the next records grow at their end; a test compares the fields that are read.)
[[nodiscard]] constexpr bool reads_records_of(std::uint32_t cupti_version) noexcept {
  constexpr std::uint32_t first_of_cuda_12 = 19;
  constexpr std::uint32_t last_of_cuda_12 = 99;
  return (cupti_version >= first_of_cuda_12 && cupti_version <= last_of_cuda_12) ||
         cupti_version / 10000 == 13;
}

}  // namespace penstock::record
