// BiCGstab with reliable updates for the even-odd preconditioned operator, 1 − kappa² D_eo D_oe, on even
// sites: iterations in a sloppy precision; now and then the true residual in a better one. Source: M. A.
// Clark et al., Comput. Phys. Commun. 181, 1517 (2010), section 5. Several right-hand sides are solved for in
// step, each with scalars of its own; those that are done drop out.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/dslash/even_odd.hpp"
#include "examples/dslash/sums.hpp"

namespace dslash {

struct SolverOptions {
  double tolerance = 1e-7;    ///< of the residual, relative to the source
  double delta = 1e-3;        ///< the true residual is taken once the iterated one has fallen by so much
  int iterations = 1000;      ///< at most
  std::vector<int> failures;  ///< iterations that count as broken down, to see what follows
};

/// Of one right-hand side.
struct SolverHistory {
  std::vector<double> residuals;  ///< after each iteration, relative to the source
  std::uint64_t hash = 0;         ///< of every scalar's bits
  int reliable_updates = 0;
  int restarts = 0;           ///< after a breakdown
  bool has_given_up = false;  ///< after another one
  bool has_converged = false;
};

/// Of all of them.
struct SolverHistories {
  std::vector<SolverHistory> sides;
  double seconds = 0;  ///< of the slowest rank, without allocating memory
};

/// Solves for all right-hand sides of x. Collective.
template <typename Precise, typename Sloppy>
[[nodiscard]] SolverHistories solve(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy,
                                    Sums& sums, const SolverOptions& options,
                                    const SpinorField<Precise>& source, const SpinorField<Precise>& x);

/// Spinor fields that solve() allocates, and those of a matrix in each precision.
template <typename Precise, typename Sloppy>
[[nodiscard]] std::size_t solver_bytes(const Slab& slab, int sides) {
  constexpr std::size_t precise_fields = 1 + 1;
  constexpr std::size_t sloppy_fields = 6 + 1;
  return precise_fields * SpinorField<Precise>::device_bytes(slab, sides) +
         sloppy_fields * SpinorField<Sloppy>::device_bytes(slab, sides);
}

/// What went on, bit by bit.
void add_to_hash(std::uint64_t& hash, std::complex<double> value);

}  // namespace dslash
