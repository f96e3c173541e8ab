// What Penstock writes down of NVIDIA's ABIs, compared with NVIDIA's headers. Compiling it is most of the
// test.
#include <cupti.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#if __has_include(<nvml.h>)
#include <nvml.h>
#endif

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <type_traits>

#include "interpose/record/gpu/cupti_library.hpp"
#include "interpose/record/gpu/nvml_library.hpp"
#include "interpose/record/gpu/traced_calls.hpp"
#include "interpose/record/run/nvtx_abi.hpp"
#include "interpose/record/trace_format.hpp"

// In the records of CUDA 12's CUPTI, the fields that are read lie where they lie in CUDA 13's.
#define SAME_FIELD(older, newer, field) static_assert(offsetof(older, field) == offsetof(newer, field))
#define SAME_ACTIVITY(older, newer)   \
  SAME_FIELD(older, newer, start);    \
  SAME_FIELD(older, newer, end);      \
  SAME_FIELD(older, newer, deviceId); \
  SAME_FIELD(older, newer, streamId); \
  SAME_FIELD(older, newer, correlationId)
SAME_ACTIVITY(CUpti_ActivityKernel8, CUpti_ActivityKernel10);
SAME_FIELD(CUpti_ActivityKernel8, CUpti_ActivityKernel10, name);
SAME_ACTIVITY(CUpti_ActivityKernel9, CUpti_ActivityKernel10);
SAME_FIELD(CUpti_ActivityKernel9, CUpti_ActivityKernel10, name);
SAME_ACTIVITY(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6);
SAME_FIELD(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, bytes);
SAME_FIELD(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, copyKind);
SAME_FIELD(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, type);
SAME_FIELD(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, start);
SAME_FIELD(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, end);
SAME_FIELD(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, streamId);
SAME_FIELD(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, correlationId);

namespace penstock::record {
namespace {

#if __has_include(<nvml.h>)
static_assert(nvml::success == NVML_SUCCESS && nvml::clock_sm == NVML_CLOCK_SM &&
              nvml::clock_memory == NVML_CLOCK_MEM && nvml::temperature_gpu == NVML_TEMPERATURE_GPU);
static_assert(trace::throttle::power_cap == nvmlClocksThrottleReasonSwPowerCap &&
              trace::throttle::hardware == nvmlClocksThrottleReasonHwSlowdown &&
              trace::throttle::heat == nvmlClocksThrottleReasonSwThermalSlowdown &&
              trace::throttle::heat_by_hardware == nvmlClocksThrottleReasonHwThermalSlowdown &&
              trace::throttle::power_brake == nvmlClocksThrottleReasonHwPowerBrakeSlowdown);
static_assert(std::is_invocable_v<decltype(nvmlDeviceGetHandleByPciBusId_v2), const char*, nvmlDevice_t*>);
static_assert(std::is_invocable_v<decltype(nvmlDeviceGetIndex), nvmlDevice_t, unsigned*>);
static_assert(std::is_invocable_v<decltype(nvmlDeviceGetPowerUsage), nvmlDevice_t, unsigned*>);
static_assert(
    std::is_invocable_v<decltype(nvmlDeviceGetTotalEnergyConsumption), nvmlDevice_t, unsigned long long*>);
static_assert(
    std::is_invocable_v<decltype(nvmlDeviceGetClockInfo), nvmlDevice_t, nvmlClockType_t, unsigned*>);
static_assert(
    std::is_invocable_v<decltype(nvmlDeviceGetMaxClockInfo), nvmlDevice_t, nvmlClockType_t, unsigned*>);
#endif

static_assert(reads_records_of(CUPTI_API_VERSION));
static_assert(reads_records_of(19) && reads_records_of(28) && reads_records_of(130000) &&
              reads_records_of(139999));
static_assert(!reads_records_of(18) && !reads_records_of(129999) && !reads_records_of(140000));

static_assert(nvtx::module_core == static_cast<int>(NVTX_CB_MODULE_CORE));
static_assert(nvtx::module_core2 == static_cast<int>(NVTX_CB_MODULE_CORE2));
static_assert(nvtx::table_callbacks == static_cast<unsigned>(NVTX_ETID_CALLBACKS));
static_assert(nvtx::core_range_start_ex == static_cast<unsigned>(NVTX_CBID_CORE_RangeStartEx));
static_assert(nvtx::core_range_start_a == static_cast<unsigned>(NVTX_CBID_CORE_RangeStartA));
static_assert(nvtx::core_range_start_w == static_cast<unsigned>(NVTX_CBID_CORE_RangeStartW));
static_assert(nvtx::core_range_end == static_cast<unsigned>(NVTX_CBID_CORE_RangeEnd));
static_assert(nvtx::core_range_push_ex == static_cast<unsigned>(NVTX_CBID_CORE_RangePushEx));
static_assert(nvtx::core_range_push_a == static_cast<unsigned>(NVTX_CBID_CORE_RangePushA));
static_assert(nvtx::core_range_push_w == static_cast<unsigned>(NVTX_CBID_CORE_RangePushW));
static_assert(nvtx::core_range_pop == static_cast<unsigned>(NVTX_CBID_CORE_RangePop));
static_assert(nvtx::core2_range_start_ex == static_cast<unsigned>(NVTX_CBID_CORE2_DomainRangeStartEx));
static_assert(nvtx::core2_range_end == static_cast<unsigned>(NVTX_CBID_CORE2_DomainRangeEnd));
static_assert(nvtx::core2_range_push_ex == static_cast<unsigned>(NVTX_CBID_CORE2_DomainRangePushEx));
static_assert(nvtx::core2_range_pop == static_cast<unsigned>(NVTX_CBID_CORE2_DomainRangePop));
static_assert(nvtx::core2_register_string_a == static_cast<unsigned>(NVTX_CBID_CORE2_DomainRegisterStringA));
static_assert(nvtx::core2_register_string_w == static_cast<unsigned>(NVTX_CBID_CORE2_DomainRegisterStringW));
static_assert(nvtx::core2_domain_create_a == static_cast<unsigned>(NVTX_CBID_CORE2_DomainCreateA));
static_assert(nvtx::core2_domain_create_w == static_cast<unsigned>(NVTX_CBID_CORE2_DomainCreateW));
static_assert(nvtx::message_ascii == static_cast<int>(NVTX_MESSAGE_TYPE_ASCII));
static_assert(nvtx::message_unicode == static_cast<int>(NVTX_MESSAGE_TYPE_UNICODE));
static_assert(nvtx::message_registered == static_cast<int>(NVTX_MESSAGE_TYPE_REGISTERED));
static_assert(sizeof(nvtx::EventAttributes) == sizeof(nvtxEventAttributes_t));
static_assert(offsetof(nvtx::EventAttributes, message_type) == offsetof(nvtxEventAttributes_t, messageType));
static_assert(offsetof(nvtx::EventAttributes, message) == offsetof(nvtxEventAttributes_t, message));
static_assert(sizeof(nvtx::ExportTableCallbacks) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(nvtx::EventAttributes, payload_type) == offsetof(nvtxEventAttributes_t, payloadType));
static_assert(offsetof(nvtx::EventAttributes, payloads) == offsetof(nvtxEventAttributes_t, reserved0));
static_assert(offsetof(nvtx::EventAttributes, payload) == offsetof(nvtxEventAttributes_t, payload));
static_assert(nvtx::payload_extended == NVTX_PAYLOAD_TYPE_EXT);
static_assert(nvtx::module_payload == NVTX_EXT_PAYLOAD_MODULEID);
static_assert(nvtx::payload_schema_register == NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
static_assert(nvtx::payload_range_push == NVTX3EXT_CBID_nvtxRangePushPayload);
static_assert(nvtx::payload_range_pop == NVTX3EXT_CBID_nvtxRangePopPayload);
static_assert(nvtx::payload_range_start == NVTX3EXT_CBID_nvtxRangeStartPayload);
static_assert(nvtx::payload_range_end == NVTX3EXT_CBID_nvtxRangeEndPayload);
static_assert(sizeof(nvtx::ExtensionModuleInfo) == sizeof(nvtxExtModuleInfo_t));
static_assert(offsetof(nvtx::ExtensionModuleInfo, module_id) == offsetof(nvtxExtModuleInfo_t, moduleId));
static_assert(offsetof(nvtx::ExtensionModuleInfo, segments) == offsetof(nvtxExtModuleInfo_t, segments));
static_assert(sizeof(nvtx::ExtensionSegment) == sizeof(nvtxExtModuleSegment_t));
static_assert(offsetof(nvtx::ExtensionSegment, slots) == offsetof(nvtxExtModuleSegment_t, functionSlots));
static_assert(sizeof(nvtx::PayloadData) == sizeof(nvtxPayloadData_t));
static_assert(offsetof(nvtx::PayloadData, payload) == offsetof(nvtxPayloadData_t, payload));
static_assert(sizeof(nvtx::PayloadSchemaEntry) == sizeof(nvtxPayloadSchemaEntry_t));
static_assert(offsetof(nvtx::PayloadSchemaEntry, name) == offsetof(nvtxPayloadSchemaEntry_t, name));
static_assert(offsetof(nvtx::PayloadSchemaEntry, offset) == offsetof(nvtxPayloadSchemaEntry_t, offset));
static_assert(offsetof(nvtx::PayloadSchema, entries) == offsetof(nvtxPayloadSchemaAttr_t, entries));
static_assert(offsetof(nvtx::PayloadSchema, static_size) ==
              offsetof(nvtxPayloadSchemaAttr_t, payloadStaticSize));
static_assert(offsetof(nvtx::PayloadSchema, id) == offsetof(nvtxPayloadSchemaAttr_t, schemaId));
static_assert(nvtx::schema_has_entries == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
static_assert(nvtx::schema_has_entry_count == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
static_assert(nvtx::schema_has_static_size == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
static_assert(nvtx::schema_has_id == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
static_assert(nvtx::first_static_schema == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
static_assert(nvtx::entry_int == NVTX_PAYLOAD_ENTRY_TYPE_INT &&
              nvtx::entry_int32 == NVTX_PAYLOAD_ENTRY_TYPE_INT32 &&
              nvtx::entry_uint64 == NVTX_PAYLOAD_ENTRY_TYPE_UINT64 &&
              nvtx::entry_size == NVTX_PAYLOAD_ENTRY_TYPE_SIZE);

TEST(NvidiaAbi, driver_call_ids_are_those_of_the_header) {
  const std::uint32_t expected[] = {
      CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
      CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
      CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
      CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
      CUPTI_DRIVER_TRACE_CBID_cuMemsetD16Async,
      CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
      CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D8Async,
      CUPTI_DRIVER_TRACE_CBID_cuMemsetD2D32Async,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpy2DAsync_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DAsync_v2,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpy,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpy3DPeerAsync,
      CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
      CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync,
      CUPTI_DRIVER_TRACE_CBID_cuMemcpyBatchAsync_v2,
  };
  EXPECT_TRUE(std::equal(std::begin(expected), std::end(expected), std::begin(driver_calls_that_issue_work),
                         std::end(driver_calls_that_issue_work)));
}

static_assert(call_of_profiler_start == CUPTI_DRIVER_TRACE_CBID_cuProfilerStart);
static_assert(call_of_profiler_stop == CUPTI_DRIVER_TRACE_CBID_cuProfilerStop);

TEST(NvidiaAbi, runtime_call_ids_are_those_of_the_header) {
  const std::uint32_t expected[] = {
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbolAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset2D_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset2DAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset3D_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset3DAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeer_v4000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyPeerAsync_v4000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DPeer_v4000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DPeerAsync_v4000,
      CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2D_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbol_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbol_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy2DAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyToSymbolAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyFromSymbolAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset2D_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset2DAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset3D_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemset3DAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3D_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DPeer_ptds_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpy3DPeerAsync_ptsz_v7000,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
      CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
      CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
      CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v12080,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_ptsz_v12080,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_v13000,
      CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyBatchAsync_ptsz_v13000,
  };
  EXPECT_TRUE(std::ranges::equal(expected, runtime_calls_that_issue_work));
}

}  // namespace
}  // namespace penstock::record
