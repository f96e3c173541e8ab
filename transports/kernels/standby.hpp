// What passes between the host and the kernel that stands by for copies (kernels.cu): its parameters, and the
// mailbox in host memory. For host code, nvcc and the simulated GPU alike. Knows no stream.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr std::uint32_t standby_threads = 32;  // a barrier costs a fiber for each there
#else
inline constexpr std::uint32_t standby_threads = 512;  // 64 KiB in four rounds of loads
#endif

/// An order for one copy. A GPU's look at host memory takes a µs, so it reads all words at once and tells by
/// the last one whether they belong together.
struct StandbyOrder {
  std::uint64_t number_and_bytes;  ///< number << 32 | bytes
  std::uint64_t to;
  std::uint64_t from;
  std::uint64_t check;  ///< check_of() the others
};

/// Instead of bytes: leave.
inline constexpr std::uint32_t leave_bytes = UINT32_MAX;

#ifdef __CUDACC__
__host__ __device__
#endif
    constexpr std::uint64_t
    check_of(std::uint64_t number_and_bytes, std::uint64_t to, std::uint64_t from) {
  return number_and_bytes * 0x9e3779b97f4a7c15u ^ to * 0xc2b2ae3d27d4eb4fu ^ from * 0x165667b19e3779f9u;
}

/// Each side writes a cache line of its own. Launches and orders are numbered from 1 on.
struct StandbyMailbox {
  alignas(64) StandbyOrder order;     ///< the host's latest
  alignas(64) std::uint32_t running;  ///< launch that takes orders
  std::uint32_t leaving;              ///< launch that takes none after one more look
  std::uint32_t done;                 ///< the last order that was executed
  std::uint32_t ended;                ///< launch that will touch nothing any more
};

/// Parameters of `penstock_standby`, one block of standby_threads.
struct Standby {
  StandbyMailbox* mailbox;  ///< as the device sees it
  std::uint32_t launch;
  std::uint32_t done;       ///< the latest order by now: not for this launch
  std::uint64_t linger_ns;  ///< leaves when it has had nothing to do for so long
  std::uint64_t life_ns;    ///< or after so long in any case
  // Addresses in an order are not translated on their way, as those in parameters are on the simulated GPU,
  // whose kernels see memory at a fixed distance from where the host knows it:
  const void* known;             ///< any memory of the device
  std::uint64_t known_inverted;  ///< ~ its address, as the host knows it
};

}  // namespace penstock::transports::kernels
