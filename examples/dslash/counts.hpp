// The arithmetic that the operator is held to: floating-point operations and bytes of memory traffic a site,
// as the field counts them. Reconstructing a link's third row is not counted as work.
#pragma once

#include <cstdint>

namespace dslash {

/// A site's hopping term: eight neighbours, each projected to half a spinor (12 additions; in time nothing),
/// multiplied by a link (two colour vectors, 66 each) and added to the sum.
constexpr std::int64_t hop_flops = 1320;
/// One block of the clover term: two hermitian matrices of 6 x 6 applied to a spinor.
constexpr std::int64_t clover_flops = 504;
/// y + a x of a spinor.
constexpr std::int64_t xpay_flops = 48;

/// Even-odd preconditioned Wilson-clover matrix, a site of one parity.
constexpr std::int64_t clover_matrix_flops = 2 * hop_flops + 2 * clover_flops + xpay_flops;

constexpr std::int64_t spinor_reals = 24;
constexpr std::int64_t half_spinor_reals = 12;
constexpr std::int64_t clover_reals = 72;
/// Neighbours of a site read no more than they must: in time, half a spinor.
constexpr std::int64_t neighbour_reals = 6 * spinor_reals + 2 * half_spinor_reals;

enum class Reuse {
  none,    ///< each neighbour comes from memory each time
  perfect  ///< each spinor comes from memory once, and caches serve the other seven times
};

/// Reals of a site's hopping term for each of `sides` right-hand sides, which share the links.
[[nodiscard]] constexpr double hop_reals(Reuse reuse, std::int64_t link_reals = 12, std::int64_t sides = 1) {
  const auto links = static_cast<double>(8 * link_reals) / static_cast<double>(sides);
  const std::int64_t read = reuse == Reuse::none ? neighbour_reals : spinor_reals;
  return links + static_cast<double>(read + spinor_reals);
}

/// Bytes of a site's hopping term, `real_bytes` each: 8, 4, or 2, with a norm of 4 bytes for each spinor.
[[nodiscard]] constexpr double hop_bytes(Reuse reuse, std::int64_t real_bytes, std::int64_t link_reals = 12,
                                         std::int64_t sides = 1) {
  const std::int64_t norms = real_bytes == 2 ? (reuse == Reuse::none ? 8 + 1 : 1 + 1) : 0;
  return hop_reals(reuse, link_reals, sides) * static_cast<double>(real_bytes) +
         static_cast<double>(4 * norms);
}

/// Bytes of a site of the even-odd preconditioned Wilson-clover matrix: two hopping terms, a clover term
/// each, and the spinor that is added to. Right-hand sides share links and clover terms.
[[nodiscard]] constexpr double clover_matrix_bytes(Reuse reuse, std::int64_t real_bytes,
                                                   std::int64_t link_reals = 12, std::int64_t sides = 1) {
  const double clovers = static_cast<double>(2 * clover_reals * real_bytes + (real_bytes == 2 ? 2 * 4 : 0)) /
                         static_cast<double>(sides);
  const std::int64_t added = spinor_reals * real_bytes + (real_bytes == 2 ? 4 : 0);
  return 2 * hop_bytes(reuse, real_bytes, link_reals, sides) + clovers + static_cast<double>(added);
}

/// What memory allows, in 10^12 operations a second.
[[nodiscard]] constexpr double roof_tflops(std::int64_t flops, double bytes, double bytes_per_s) {
  return static_cast<double>(flops) / bytes * bytes_per_s * 1e-12;
}

}  // namespace dslash
