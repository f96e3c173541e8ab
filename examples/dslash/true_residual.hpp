// |eta − M psi| / |eta| on all sites by the operator in double precision.
#pragma once

#include "examples/dslash/hop.hpp"
#include "examples/dslash/host_fields.hpp"
#include "examples/dslash/options.hpp"
#include "examples/dslash/sums.hpp"

namespace dslash {

template <typename Precise>
class TrueResidual {
 public:
  TrueResidual(const Options& options, Hop<Double>& hop, Sums& sums);

  /// Of one right-hand side. Collective.
  [[nodiscard]] double of(const BothParities<Precise>& source, const BothParities<Precise>& solution,
                          int side);

  [[nodiscard]] static std::size_t device_bytes(const Options& options, const Slab& slab);

 private:
  [[nodiscard]] cudaStream_t bulk() const { return hop_.streams().bulk.get(); }
  [[nodiscard]] const Slab& slab() const { return hop_.team().slab; }
  [[nodiscard]] double square_of(const SpinorField<Double>& field);
  void subtract_diagonal(int parity);

  Options options_;
  Hop<Double>& hop_;
  Sums& sums_;
  Selection one_ = Selection::one(0);
  BothParities<Double> psi_;
  SpinorField<Double> eta_;
  SpinorField<Double> residual_;
};

}  // namespace dslash
