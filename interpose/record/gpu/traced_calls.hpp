// Lists the callback ids (cupti_driver_cbid.h, cupti_runtime_cbid.h) of the CUDA calls that issue GPU work or
// wait for it. They are part of CUPTI's ABI; a test compares them with NVIDIA's headers, which the simulated
// GPU lacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

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

inline constexpr std::uint32_t runtime_calls_that_issue_work[] = {
    31,   // cudaMemcpy
    32,   // cudaMemcpy2D
    39,   // cudaMemcpyToSymbol
    40,   // cudaMemcpyFromSymbol
    41,   // cudaMemcpyAsync
    44,   // cudaMemcpy2DAsync
    47,   // cudaMemcpyToSymbolAsync
    48,   // cudaMemcpyFromSymbolAsync
    49,   // cudaMemset
    50,   // cudaMemset2D
    51,   // cudaMemsetAsync
    52,   // cudaMemset2DAsync
    131,  // cudaStreamSynchronize
    137,  // cudaEventSynchronize
    142,  // cudaMemset3D
    143,  // cudaMemset3DAsync
    144,  // cudaMemcpy3D
    145,  // cudaMemcpy3DAsync
    160,  // cudaMemcpyPeer
    161,  // cudaMemcpyPeerAsync
    162,  // cudaMemcpy3DPeer
    163,  // cudaMemcpy3DPeerAsync
    165,  // cudaDeviceSynchronize
    211,  // cudaLaunchKernel
    214,  // cudaLaunchKernel_ptsz
    215,  // cudaMemcpy_ptds
    216,  // cudaMemcpy2D_ptds
    223,  // cudaMemcpyToSymbol_ptds
    224,  // cudaMemcpyFromSymbol_ptds
    225,  // cudaMemcpyAsync_ptsz
    228,  // cudaMemcpy2DAsync_ptsz
    231,  // cudaMemcpyToSymbolAsync_ptsz
    232,  // cudaMemcpyFromSymbolAsync_ptsz
    233,  // cudaMemset_ptds
    234,  // cudaMemset2D_ptds
    235,  // cudaMemsetAsync_ptsz
    236,  // cudaMemset2DAsync_ptsz
    239,  // cudaStreamSynchronize_ptsz
    243,  // cudaMemset3D_ptds
    244,  // cudaMemset3DAsync_ptsz
    245,  // cudaMemcpy3D_ptds
    246,  // cudaMemcpy3DAsync_ptsz
    249,  // cudaMemcpy3DPeer_ptds
    250,  // cudaMemcpy3DPeerAsync_ptsz
    269,  // cudaLaunchCooperativeKernel
    270,  // cudaLaunchCooperativeKernel_ptsz
    311,  // cudaGraphLaunch
    312,  // cudaGraphLaunch_ptsz
    430,  // cudaLaunchKernelExC
    431,  // cudaLaunchKernelExC_ptsz
    482,  // cudaMemcpyBatchAsync
    483,  // cudaMemcpyBatchAsync_ptsz
    509,  // cudaMemcpyBatchAsync
    510,  // cudaMemcpyBatchAsync_ptsz
};

inline constexpr std::uint32_t call_of_profiler_start =
    308;  ///< cuProfilerStart, which cudaProfilerStart calls
inline constexpr std::uint32_t call_of_profiler_stop = 309;

/// One past the highest id of any CUPTI 12 or 13, which refuse ids that they do not know.
inline constexpr std::uint32_t calls_end = 1024;

/// `calls`: one of the lists above.
[[nodiscard]] inline bool issues_work(std::span<const std::uint32_t> calls, std::uint32_t call) noexcept {
  return std::ranges::find(calls, call) != calls.end();
}

}  // namespace penstock::record
