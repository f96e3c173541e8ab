// BiCGstab with reliable updates for the even-odd preconditioned operator, 1 − kappa² D_eo D_oe, on even
// sites: iterations in a sloppy precision; now and then the true residual in a better one. Source: M. A.
// Clark et al., Comput. Phys. Commun. 181, 1517 (2010), section 5.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/dslash/hop.hpp"
#include "examples/dslash/sums.hpp"

namespace dslash {

constexpr int even = 0;
constexpr int odd = 1;

/// out = (1 − kappa² D_eo D_oe) in, on even sites; with a clover term A, both D are multiplied by its
/// inverse.
template <typename Precision>
class EvenOddMatrix {
 public:
  EvenOddMatrix(Hop<Precision>& hop, double kappa) : hop_(hop), kappa_(kappa), between_(hop.team().slab) {}

  void apply(const SpinorField<Precision>& in, const SpinorField<Precision>& out) {
    hop_.apply(odd, in, between_);
    hop_.apply(even, between_, out, in, -kappa_ * kappa_);
  }
  [[nodiscard]] Hop<Precision>& hop() { return hop_; }
  [[nodiscard]] double kappa() const { return kappa_; }

 private:
  Hop<Precision>& hop_;
  double kappa_;
  SpinorField<Precision> between_;
};

struct SolverOptions {
  double tolerance = 1e-7;  ///< of the residual, relative to the source
  double delta = 1e-3;      ///< the true residual is taken once the iterated one has fallen by so much
  int iterations = 1000;    ///< at most
};

struct SolverHistory {
  std::vector<double> residuals;  ///< after each iteration, relative to the source
  std::uint64_t hash = 0;         ///< of every scalar's bits
  int reliable_updates = 0;
  int restarts = 0;    ///< after a breakdown
  double seconds = 0;  ///< of the slowest rank, without allocating memory
  bool has_converged = false;
};

/// Solves for x. Collective.
template <typename Precise, typename Sloppy>
[[nodiscard]] SolverHistory solve(EvenOddMatrix<Precise>& precise, EvenOddMatrix<Sloppy>& sloppy, Sums& sums,
                                  const SolverOptions& options, const SpinorField<Precise>& source,
                                  const SpinorField<Precise>& x);

/// Spinor fields that solve() allocates, and those of a matrix in each precision.
template <typename Precise, typename Sloppy>
[[nodiscard]] std::size_t solver_bytes(const Slab& slab) {
  constexpr std::size_t precise_fields = 1 + 1;
  constexpr std::size_t sloppy_fields = 6 + 1;
  return precise_fields * SpinorField<Precise>::device_bytes(slab) +
         sloppy_fields * SpinorField<Sloppy>::device_bytes(slab);
}

}  // namespace dslash
