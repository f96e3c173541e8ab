// What passes between the host and the kernel that stands by for copies (kernels.cu): its parameters, and the
// mailbox in host memory. For host code, nvcc and the simulated GPU alike. Knows no stream.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr std::uint32_t standby_threads = 32;  // a barrier costs a fiber for each there
#else
inline constexpr std::uint32_t standby_threads = 512;  // 64 KiB in two rounds of loads
#endif

/// An order for one copy: two words that a GPU reads at once. Its look at host memory takes 2.2 µs, and looks
/// do not overlap, so that four words would take 1.6 µs more (H200, PCIe 5). Addresses are of user space, so
/// they leave bits for the rest.
struct alignas(16) StandbyOrder {
  std::uint64_t from;  ///< address << address_shift | caller_bits | number
  std::uint64_t to;    ///< address (0: leave) << address_shift | parity of the number << 16 | bytes - 1
};
inline constexpr unsigned address_shift = 17;
inline constexpr std::uint64_t addresses_end = std::uint64_t{1} << (64 - address_shift);
inline constexpr std::uint64_t number_mask = 0x7fff;
inline constexpr std::uint64_t caller_inside = 0x8000;    ///< the program's thread is in an MPI call
inline constexpr std::uint64_t caller_changed = 0x10000;  ///< differs when it has begun another
inline constexpr std::uint64_t caller_bits = caller_inside | caller_changed;
/// More takes several rounds of loads: no faster than the copy engine.
inline constexpr std::uint32_t largest_order = 65536;

/// Instead of an address: Standby::bounce.
inline constexpr std::uint64_t bounce_address = 1;
inline constexpr std::uint32_t bounce_bytes = 4096;

/// Each side writes a cache line of its own. Launches and orders are numbered from 1 on, orders modulo
/// number_mask + 1.
struct StandbyMailbox {
  alignas(64) StandbyOrder order;     ///< the host's latest
  alignas(64) std::uint32_t running;  ///< launch that takes orders
  std::uint32_t leaving;              ///< launch that takes none after one more look
  std::uint32_t done;                 ///< number of the last order that was executed
  std::uint32_t ended;                ///< launch that will touch nothing any more
};

/// How long the kernel stays, in ns.
struct StandbyStay {
  std::uint64_t idle;     ///< without an order, while the program's thread is in MPI calls
  std::uint64_t outside;  ///< the same, while it is not
  std::uint64_t life;     ///< in any case
};

/// Parameters of `penstock_standby`, one block of standby_threads.
struct Standby {
  StandbyMailbox* mailbox;  ///< as the device sees it
  std::uint32_t launch;
  std::uint32_t done;  ///< number of the latest order by now: not for this launch
  StandbyStay stay;
  /// Host memory, bounce_bytes of it, for what comes from there or goes there; as the device sees it.
  char* bounce;
  // Addresses in an order are not translated on their way, as those in parameters are on the simulated GPU,
  // whose kernels see memory at a fixed distance from where the host knows it:
  const void* known;             ///< any memory of the device
  std::uint64_t known_inverted;  ///< ~ its address, as the host knows it
};

}  // namespace penstock::transports::kernels
