// The figures by which a transport is chosen and payloads are cut, one table for the process: as shipped, or
// as `penstock tune` has measured them on this machine. Knows neither files nor how anything is measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/cuda/devices.hpp"

namespace penstock::transports {

/// In place of a size from which something holds.
inline constexpr std::uint64_t never = UINT64_MAX;

/// Between two devices. Unit: bytes of a payload, from which on …
struct LinkTuning {
  std::uint64_t staged_from;    ///< … host memory is the faster way, although peer access is open
  std::uint64_t relayed_from;   ///< … what cannot be mapped is relayed (up to staged_from); below, staged
  std::uint64_t relayed_chunk;  ///< but this: the largest chunk of a relayed payload
};

/// Trivially copyable, as processes hand it to each other.
struct Tuning {
  std::array<LinkTuning, 3> links;  ///< by cuda::Link
  std::uint64_t pushed_from;        ///< pushed from pinned host memory, relayed into any; below, staged
  std::uint64_t bounced_from;       ///< into pageable memory through a pinned ring; below, by the driver
  std::uint64_t batched_to;    ///< up to this, pulls that come together go by one kernel; above, by copies
  std::uint64_t staged_chunk;  ///< the largest chunk of a staged payload

  // Not measured.
  std::uint64_t host_batched_to;  ///< as batched_to, between a device and pinned memory
  std::uint64_t network_from;   ///< between nodes in chunks, and collectives by messages; below, in one piece
  std::uint64_t uploaded_from;  ///< from host memory to a device as the GPU fetches it; below, by the MPI
                                ///< library and from there
  // on a GPU that ranks share
  std::uint64_t shared_gpu_from;        ///< messages stay within it; below, they are staged
  std::uint64_t shared_exchanged_from;  ///< collectives go by messages; below, through the MPI library
  std::uint64_t shared_reduced_from;    ///< the same of reductions, which take kernels, too
  std::uint64_t packed_from;            ///< what is staged is packed if it is an increasing list of integers
  std::uint64_t network_packed_from;    ///< the same of what goes to another node
  std::uint64_t fused_to;     ///< collectives of vectors and blocks of so little are one kernel on each
                              ///< rank; above, messages and kernels
  std::uint64_t buffered_to;  ///< standard-mode sends never wait for the receiver; above, until …
  std::uint64_t receiver_timeout_us;  ///< … it has not come for so long: then they are buffered, too
  std::uint64_t linger_us;            ///< that a kernel stands by for the next small payload; 0: never

  /// Do ranks that share a GPU exchange so much, of a rank in all, by messages, or reduce it? Also whatever
  /// stays within it, as where it takes no turns.
  [[nodiscard]] constexpr bool exchanges_on_shared_gpu(std::uint64_t bytes) const noexcept {
    return bytes >= shared_exchanged_from || bytes >= shared_gpu_from;
  }
  [[nodiscard]] constexpr bool reduces_on_shared_gpu(std::uint64_t bytes) const noexcept {
    return bytes >= shared_reduced_from || bytes >= shared_gpu_from;
  }

  /// Without peer access there is nothing to choose: any will do.
  [[nodiscard]] constexpr const LinkTuning& of(cuda::Link link) const noexcept {
    return links[link == cuda::Link::none ? static_cast<std::size_t>(cuda::Link::pcie)
                                          : static_cast<std::size_t>(link)];
  }
};

/// What is shipped.
[[nodiscard]] const Tuning& shipped_tuning() noexcept;

/// The table in force. Thread: any. Cost: a load.
[[nodiscard]] const Tuning& tuning() noexcept;
/// From now on it is this one, which must live to the end of the process. Messages under way may still be cut
/// as before. Thread: any.
void set_tuning(const Tuning& table) noexcept;

/// A figure of the table by its name. One of the two members is null.
struct TuningParameter {
  enum class Kind : std::uint8_t { from, up_to, chunk, time };
  const char* name;
  Kind kind;
  std::uint64_t LinkTuning::*of_link;
  std::uint64_t Tuning::*of_machine;
  std::uint64_t least;
  std::uint64_t most;       ///< `never` beside it where the kind is `from`; chunks are powers of two
  bool is_measured = true;  ///< by `penstock tune`

  /// `link` is not looked at for a figure of the machine.
  [[nodiscard]] std::uint64_t& in(Tuning& table, cuda::Link link) const noexcept {
    return of_link != nullptr ? table.links[static_cast<std::size_t>(link)].*of_link : table.*of_machine;
  }
};
[[nodiscard]] std::span<const TuningParameter> tuning_parameters() noexcept;

}  // namespace penstock::transports
