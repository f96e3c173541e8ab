// Parameters of the batched copy's kernel: everything by value, so that a launch needs no copy of its own.
// For host code, nvcc and the simulated GPU alike. This header knows neither streams nor completion.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

/// The most bytes that one block of threads copies: a multiple of 16, so that pieces are aligned as their
/// item is.
inline constexpr std::uint32_t piece_bytes = 16384;
#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr std::uint32_t most_threads = 32;  // a barrier costs a fiber for each there
#else
inline constexpr std::uint32_t most_threads = 256;
#endif

/// Number of flags (of one context) and counters, thus of launches that can be in flight at once.
inline constexpr std::uint32_t slot_count = 256;

/// At most `capacity` items, each with at least one block of the launch. There are several capacities, as
/// each byte of parameters costs time. Every driver allows 4 KiB of kernel parameters.
template <std::uint32_t capacity>
struct CopyBatch {
  std::uint32_t* flag;  ///< host memory as the device sees it: becomes 1 when all is copied; may be null
  std::uint32_t slot;   ///< whose counter to use
  std::uint32_t count;
  std::uint32_t first_block[capacity];  ///< of each item; apart from the rest because blocks search here
  struct Item {
    void* to;
    const void* from;
    std::uint64_t bytes;
  } items[capacity];
};

/// Each capacity has one kernel, `penstock_copy_<capacity>`, called with (CopyBatch<capacity>).
#define PENSTOCK_COPY_CAPACITIES(row) row(4) row(16) row(32)
inline constexpr std::uint32_t largest_capacity = 32;
static_assert(sizeof(CopyBatch<largest_capacity>) <= 4096);

}  // namespace penstock::transports::kernels
