// Lists the callback ids (cupti_driver_cbid.h) of the CUDA driver calls that issue GPU work or wait for it.
// They are part of CUPTI's ABI; a test compares them with NVIDIA's header, which the simulated GPU lacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace penstock::record {

inline constexpr std::uint32_t driver_calls_that_issue_work[] = {
    17,   // cuCtxSynchronize
    121,  // cuEventSynchronize
    126,  // cuStreamSynchronize
    216,  // cuMemsetD8Async
    218,  // cuMemsetD16Async
    220,  // cuMemsetD32Async
    222,  // cuMemsetD2D8Async
    226,  // cuMemsetD2D32Async
    276,  // cuMemcpyHtoD_v2
    277,  // cuMemcpyHtoDAsync_v2
    278,  // cuMemcpyDtoH_v2
    279,  // cuMemcpyDtoHAsync_v2
    281,  // cuMemcpyDtoDAsync_v2
    289,  // cuMemcpy2DAsync_v2
    291,  // cuMemcpy3DAsync_v2
    305,  // cuMemcpy
    306,  // cuMemcpyAsync
    307,  // cuLaunchKernel
    319,  // cuMemcpyPeerAsync
    321,  // cuMemcpy3DPeerAsync
    440,  // cuStreamSynchronize_ptsz
    442,  // cuLaunchKernel_ptsz
    477,  // cuLaunchCooperativeKernel
    478,  // cuLaunchCooperativeKernel_ptsz
    514,  // cuGraphLaunch
    515,  // cuGraphLaunch_ptsz
    652,  // cuLaunchKernelEx
    653,  // cuLaunchKernelEx_ptsz
    776,  // cuMemcpyBatchAsync
    796,  // cuMemcpyBatchAsync_v2
};

/// One past the highest id of any CUPTI 12 or 13, which refuse ids that they do not know.
inline constexpr std::uint32_t driver_calls_end = 1024;

[[nodiscard]] inline bool issues_work(std::uint32_t call) noexcept {
  return std::find(std::begin(driver_calls_that_issue_work), std::end(driver_calls_that_issue_work), call) !=
         std::end(driver_calls_that_issue_work);
}

}  // namespace penstock::record
