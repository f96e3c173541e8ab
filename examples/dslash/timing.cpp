#include "examples/dslash/timing.hpp"

#include <algorithm>

#include "examples/dslash/hop.hpp"
#include "examples/dslash/host_fields.hpp"
#include "examples/dslash/median.hpp"

namespace dslash {
template <typename Precision>
Case time_operator(const Options& options, const Team& team, Policy policy) {
  Model model = options.model;
  model.lattice = team.slab.lattice;
  Streams streams;
  Hop<Precision> hop(team, streams, model, options.rows, options.coefficients, options.transfer.by(policy),
                     options.sides);
  const BothParities<Precision> fields(team.slab, options.sides);
  const SpinorField<Precision> last(team.slab, options.sides);
  for (int side = 0; side < options.sides; ++side) {
    queue_source<Precision>(streams.bulk.get(), team.slab, 0, fields.of[0].view(side), model);
    ++model.seed;
  }
  const Selection all = last.all_sides();
  const auto apply = [&](int applications) {
    for (int i = 0; i < applications; ++i) {
      hop.apply(1, all, fields.of[0], fields.of[1]);
      if (options.times_matrix()) {
        hop.apply(0, all, fields.of[1], last, fields.of[0],
                  -options.coefficients.kappa * options.coefficients.kappa);
      } else {
        hop.apply(0, all, fields.of[1], last);  // not back to the first: numbers would grow without end
      }
    }
    streams.bulk.synchronize();
  };
  apply(std::min(options.applications, 3));  // buffers are seen by MPI and CUDA for the first time
  const double round_s = median_s(team, options.rounds, [&] { apply(options.applications); });
  return {policy, team.size, team.slab.lattice, round_s / options.applications, std::nullopt};
}

template <typename Precision>
std::size_t operator_bytes(const Options& options, const Team& team) {
  return Hop<Precision>::device_bytes(team, options.rows, options.coefficients.has_clover(), options.sides) +
         3 * SpinorField<Precision>::device_bytes(team.slab, options.sides);
}

#define DSLASH_TIMING(P)                                               \
  template Case time_operator<P>(const Options&, const Team&, Policy); \
  template std::size_t operator_bytes<P>(const Options&, const Team&);
DSLASH_TIMING(Double)
DSLASH_TIMING(Single)
DSLASH_TIMING(Half)
#undef DSLASH_TIMING

}  // namespace dslash
