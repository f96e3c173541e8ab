// The figures that choose a transport and cut payloads, one table for the process: as shipped, or as
// `penstock tune` has measured them on this machine. This header knows neither files nor how anything is
// measured.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "transports/cuda/devices.hpp"

namespace penstock::transports {

/// This value stands for a threshold that no size reaches.
inline constexpr std::uint64_t never = UINT64_MAX;

/// Thresholds for a pair of devices, in payload bytes.
struct LinkTuning {
  std::uint64_t staged_from;    ///< from here on host memory is faster, although peer access is open
  std::uint64_t relayed_from;   ///< what cannot be mapped is relayed (up to staged_from); below, staged
  std::uint64_t relayed_chunk;  ///< no threshold: the largest chunk of a relayed payload
};

/// Trivially copyable, as processes pass it to each other.
struct Tuning {
  std::array<LinkTuning, 3> links;  ///< by cuda::Link
  std::uint64_t pushed_from;        ///< pushed from pinned host memory, relayed into any; below, staged
  std::uint64_t bounced_from;       ///< into pageable memory through a pinned ring; below, by the driver
  std::uint64_t batched_to;         ///< up to this, one kernel carries out pulls in a batch; above, copies
  std::uint64_t staged_chunk;       ///< the largest chunk of a staged payload

  // Not measured.
  std::uint64_t host_batched_to;  ///< as batched_to, between a device and pinned memory
  std::uint64_t network_from;   ///< between nodes in chunks, and collectives by messages; below, in one piece
  std::uint64_t uploaded_from;  ///< from host memory to a device by the GPU's own read; below, through the
                                ///< MPI library and then up
  // on a GPU that ranks share
  std::uint64_t shared_gpu_from;        ///< messages stay within it; below, they are staged
  std::uint64_t shared_exchanged_from;  ///< collectives go by messages; below, through the MPI library
  std::uint64_t shared_reduced_from;    ///< the same for reductions, which take kernels, too
  std::uint64_t packed_from;          ///< a staged payload is packed if it is an increasing list of integers
  std::uint64_t network_packed_from;  ///< the same for payloads to another node
  std::uint64_t posted_from;  ///< senders write to receives that are posted before; below, they never do
  std::uint64_t fused_to;     ///< one kernel on each rank carries out collectives of vectors and blocks up to
                              ///< this; above, messages and kernels
  std::uint64_t buffered_to;  ///< standard-mode sends wait 50 µs for the receiver; above, they wait up to
                              ///< receiver_timeout_us
  std::uint64_t receiver_timeout_us;  ///< after which they are buffered, too
  std::uint64_t linger_us;            ///< that the resident kernel waits for the next small payload; 0: never

  /// Return whether ranks that share a GPU exchange, or reduce, that many bytes of a rank by messages. True
  /// also for sizes whose messages stay within the GPU, for example with MPS (shared_gpu_from = 0).
  [[nodiscard]] constexpr bool exchanges_on_shared_gpu(std::uint64_t bytes) const noexcept {
    return bytes >= shared_exchanged_from || bytes >= shared_gpu_from;
  }
  [[nodiscard]] constexpr bool reduces_on_shared_gpu(std::uint64_t bytes) const noexcept {
    return bytes >= shared_reduced_from || bytes >= shared_gpu_from;
  }

  /// Returns the figures of a link. Without peer access nothing depends on them: any will do.
  [[nodiscard]] constexpr const LinkTuning& of(cuda::Link link) const noexcept {
    return links[link == cuda::Link::none ? static_cast<std::size_t>(cuda::Link::pcie)
                                          : static_cast<std::size_t>(link)];
  }
};

/// The shipped table.
[[nodiscard]] const Tuning& shipped_tuning() noexcept;

/// Returns the table in force. Thread: any. Cost: a load.
[[nodiscard]] const Tuning& tuning() noexcept;
/// Puts this table in force; it must live to the end of the process. Messages in flight may still be cut as
/// before. Thread: any.
void set_tuning(const Tuning& table) noexcept;

/// A figure of the table by its name. One of the two members is null.
struct TuningParameter {
  enum class Kind : std::uint8_t { from, up_to, chunk, time };
  const char* name;
  Kind kind;
  std::uint64_t LinkTuning::*of_link;
  std::uint64_t Tuning::*of_machine;
  std::uint64_t least;
  std::uint64_t most;       ///< if the kind is `from`, also `never`; chunks are powers of two
  bool is_measured = true;  ///< by `penstock tune`

  /// A figure of the machine ignores `link`.
  [[nodiscard]] std::uint64_t& in(Tuning& table, cuda::Link link) const noexcept {
    return of_link != nullptr ? table.links[static_cast<std::size_t>(link)].*of_link : table.*of_machine;
  }
};
[[nodiscard]] std::span<const TuningParameter> tuning_parameters() noexcept;

}  // namespace penstock::transports
