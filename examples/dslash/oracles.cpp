#include "examples/dslash/oracles.hpp"

#include <algorithm>
#include <cmath>

#include "examples/dslash/hop.hpp"
#include "examples/dslash/host_fields.hpp"
#include "examples/dslash/link_check.hpp"
#include "examples/dslash/theory.hpp"

namespace dslash {
namespace {

/// What rounding may do to the operator's result, relative to its length.
template <typename Precision>
constexpr double rounding = is_fixed_point<Precision>               ? 0x1p-13
                            : sizeof(typename Precision::Real) == 4 ? 1e-6
                                                                    : 1e-14;

template <typename Precision>
class Oracles {
 public:
  Oracles(const Options& options, const Team& team)
      : options_(options),
        team_(team),
        reference_(options.model, options.coefficients),
        source_(reference_.source()) {}

  std::vector<Check> run(const std::vector<Policy>& policies) {
    const Policy first = policies.front();
    const HostField result = applied<Precision>(options_.model, first, options_.rows, source_);
    add("D against the host's", relative_difference(result, reference_.hop(source_), team_),
        rounding<Precision>);
    const HostField matrix = matrix_applied(first);
    add("even-odd matrix against the host's",
        relative_difference(matrix, reference_.even_odd(source_), team_), 2 * rounding<Precision>);
    if (options_.coefficients.has_clover()) {
      check_clover();
    }
    check_plane_wave(first);
    check_gamma5(first, result);
    check_gauge_covariance(first, result);
    check_links(first);
    add("D with 2 rows of links against 3",
        relative_difference(applied<Precision>(options_.model, first, 5 - options_.rows, source_), result,
                            team_),
        rounding<Precision>);
    if constexpr (is_fixed_point<Precision>) {
      add("half against single precision",
          relative_difference(result, applied<Single>(options_.model, first, options_.rows, source_), team_),
          0x1p-14);
    }
    if (options_.sides > 1) {
      for (const Policy policy : policies) {
        check_sides(policy);
      }
    }
    check_bits(policies, joined_hash(result, matrix, team_));
    return checks_;
  }

 private:
  void add(std::string name, double value, double bound) {
    checks_.push_back({std::move(name), value, bound});
  }

  template <typename P>
  [[nodiscard]] HostField applied(const Model& model, Policy policy, int rows, const HostField& psi) {
    Streams streams;
    Hop<P> hop = make_hop<P>(team_, streams, model, policy, rows, false);
    const BothParities<P> in(team_.slab);
    const BothParities<P> out(team_.slab);
    upload(streams.bulk, team_.slab, psi, in);
    for (int parity = 0; parity < 2; ++parity) {
      hop.apply(parity, in.of[0].all_sides(), in.of[1 - parity], out.of[parity]);
    }
    return download(streams.bulk, team_.slab, out);
  }

  /// Of D alone, or also of the clover term where there is one.
  template <typename P>
  [[nodiscard]] Hop<P> make_hop(const Team& team, Streams& streams, const Model& model, Policy policy,
                                int rows, bool has_clover, int sides = 1) {
    Coefficients coefficients = options_.coefficients;
    coefficients.clover = has_clover ? coefficients.clover : 0;
    return Hop<P>(team, streams, model, rows, coefficients, options_.transfer.by(policy), sides);
  }

  /// psi − kappa² D D psi, with the clover term where there is one, on both parities: the kernel that adds x,
  /// and faces of what it has just written.
  [[nodiscard]] HostField matrix_applied(Policy policy) {
    const double square = options_.coefficients.kappa * options_.coefficients.kappa;
    Streams streams;
    Hop<Precision> hop = make_hop<Precision>(team_, streams, options_.model, policy, options_.rows, true);
    const BothParities<Precision> in(team_.slab);
    const BothParities<Precision> between(team_.slab);
    const BothParities<Precision> out(team_.slab);
    upload(streams.bulk, team_.slab, source_, in);
    for (int parity = 0; parity < 2; ++parity) {
      hop.apply(1 - parity, in.of[0].all_sides(), in.of[parity], between.of[1 - parity]);
      hop.apply(parity, in.of[0].all_sides(), between.of[1 - parity], out.of[parity], in.of[parity], -square);
    }
    return download(streams.bulk, team_.slab, out);
  }

  /// The clover term times psi, not its inverse.
  [[nodiscard]] HostField clover_applied(const Model& model) {
    Streams streams;
    const CloverField<Precision> clover(team_.slab);
    const BothParities<Precision> fields(team_.slab);
    upload(streams.bulk, team_.slab, source_, fields);
    for (int parity = 0; parity < 2; ++parity) {
      queue_clover(streams.bulk.get(), team_.slab, parity, model,
                   options_.coefficients.kappa * options_.coefficients.clover, false, clover.view(parity));
      queue_apply_clover(streams.bulk.get(), team_.slab, Selection::one(0), clover.view(parity),
                         fields.of[parity].view(), fields.of[parity].view());
    }
    return download(streams.bulk, team_.slab, fields);
  }

  void check_clover() {
    add("clover term against the host's",
        relative_difference(clover_applied(options_.model), reference_.diagonal(source_, false), team_),
        rounding<Precision>);
    Model constant = options_.model;
    constant.gauge = Gauge::constant;
    add("clover term of a constant field",
        relative_difference(clover_applied(constant),
                            clover_of_constant_field(source_, constant.lattice, options_.coefficients),
                            team_),
        rounding<Precision>);
  }

  void check_plane_wave(Policy policy) {
    Model free = options_.model;
    free.gauge = Gauge::unit;
    const PlaneWave wave(free.lattice, options_.coefficients, {1, 2, -1, 1});
    HostSpinor amplitude{};
    for (std::size_t i = 0; i < 12; ++i) {
      amplitude[i / 3][i % 3] = {0.1 * static_cast<double>(i) - 0.5, 0.7 - 0.2 * static_cast<double>(i % 5)};
    }
    const HostField result = applied<Precision>(free, policy, options_.rows, wave.field(amplitude));
    add("plane wave of free fields", relative_difference(result, wave.field(wave.hop(amplitude)), team_),
        rounding<Precision>);
  }

  [[nodiscard]] static HostField times_gamma5(const HostField& psi) {
    HostField result(psi.size());
    for (std::size_t site = 0; site < psi.size(); ++site) {
      for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
          for (std::size_t colour = 0; colour < 3; ++colour) {
            result[site][row][colour] += gammas()[4][row][column] * psi[site][column][colour];
          }
        }
      }
    }
    return result;
  }

  /// (chi, D psi) = (gamma_5 D gamma_5 chi, psi)
  void check_gamma5(Policy policy, const HostField& result) {
    Model other = options_.model;
    ++other.seed;
    const HostField chi = Reference(other, options_.coefficients).source();
    const HostField left =
        times_gamma5(applied<Precision>(options_.model, policy, options_.rows, times_gamma5(chi)));
    const double scale = std::sqrt(std::abs(dot(chi, chi, team_)) * std::abs(dot(result, result, team_)));
    add("gamma5-hermiticity", std::abs(dot(chi, result, team_) - dot(left, source_, team_)) / scale,
        rounding<Precision>);
  }

  /// A gauge transformation of links and source transforms the result.
  void check_gauge_covariance(Policy policy, const HostField& result) {
    Model transformed = options_.model;
    transformed.is_transformed = true;
    const HostField source = gauge_transformed(source_, options_.model);
    const HostField expected = gauge_transformed(result, options_.model);
    add("gauge covariance",
        relative_difference(applied<Precision>(transformed, policy, options_.rows, source), expected, team_),
        2 * rounding<Precision>);
  }

  /// Links as kernels read them, those in the padding too, against the model's; and the unit field's
  /// plaquette.
  void check_links(Policy policy) {
    add("links, and those of the slice before, against the model's", error_of_links(options_.model, policy),
        is_fixed_point<Precision> ? 0x1p-13 : rounding<Precision>);
    Model unit = options_.model;
    unit.gauge = Gauge::unit;
    // A plaquette of links that are exactly 1 is exactly 1.
    add("1 - plaquette of the unit field", error_of_links(unit, policy), 0);
  }

  [[nodiscard]] double error_of_links(const Model& model, Policy policy) {
    Streams streams;
    Hop<Precision> hop = make_hop<Precision>(team_, streams, model, policy, options_.rows, false);
    return largest_link_error(hop, model);
  }

  /// Several right-hand sides at once get the same bits as one by one.
  void check_sides(Policy policy) {
    Streams streams;
    Hop<Precision> hop =
        make_hop<Precision>(team_, streams, options_.model, policy, options_.rows, true, options_.sides);
    const BothParities<Precision> in(team_.slab, options_.sides);
    const BothParities<Precision> out(team_.slab, options_.sides);
    std::vector<HostField> sources;
    Model model = options_.model;
    for (int side = 0; side < options_.sides; ++side, ++model.seed) {
      sources.push_back(Reference(model, options_.coefficients).source());
      upload(streams.bulk, team_.slab, sources.back(), in, side);
    }
    for (int parity = 0; parity < 2; ++parity) {
      hop.apply(parity, in.of[0].all_sides(), in.of[1 - parity], out.of[parity], in.of[parity], 0.5);
    }
    double differing = 0;
    for (int side = 0; side < options_.sides; ++side) {
      const HostField expected = alone(policy, sources[static_cast<std::size_t>(side)]);
      const HostField result = download(streams.bulk, team_.slab, out, side);
      differing += hash_of(result, team_) == hash_of(expected, team_) ? 0 : 1;
    }
    add("right-hand sides that differ from one by one, by policy " + name_of(policy), differing, 0);
  }

  /// psi + D psi / 2 for one right-hand side.
  [[nodiscard]] HostField alone(Policy policy, const HostField& psi) {
    Streams streams;
    Hop<Precision> hop = make_hop<Precision>(team_, streams, options_.model, policy, options_.rows, true);
    const BothParities<Precision> in(team_.slab);
    const BothParities<Precision> out(team_.slab);
    upload(streams.bulk, team_.slab, psi, in);
    for (int parity = 0; parity < 2; ++parity) {
      hop.apply(parity, in.of[0].all_sides(), in.of[1 - parity], out.of[parity], in.of[parity], 0.5);
    }
    return download(streams.bulk, team_.slab, out);
  }

  [[nodiscard]] static std::uint64_t joined_hash(const HostField& hop, const HostField& matrix,
                                                 const Team& team) {
    return hash_of(hop, team) + 3 * hash_of(matrix, team);
  }

  /// Of D, and of the even-odd matrix.
  [[nodiscard]] std::uint64_t bits_by(Policy policy) {
    const HostField hop = applied<Precision>(options_.model, policy, options_.rows, source_);
    return joined_hash(hop, matrix_applied(policy), team_);
  }

  /// Every policy gives the same bits, and so does a single rank.
  void check_bits(const std::vector<Policy>& policies, std::uint64_t expected) {
    for (const Policy policy : policies) {
      if (policy != policies.front()) {
        add("bits of policy " + name_of(policy) + " differ", bits_by(policy) == expected ? 0 : 1, 0);
      }
    }
    double differs = 0;
    if (team_.rank == 0) {
      Oracles<Precision> on_one_rank(options_, Team(options_.model.lattice, MPI_COMM_SELF, 1));
      differs = on_one_rank.bits_by(Policy::none) == expected ? 0 : 1;
    }
    MPI_Bcast(&differs, 1, MPI_DOUBLE, 0, team_.communicator);
    add("bits of one rank differ", differs, 0);
  }

  Options options_;
  Team team_;
  Reference reference_;
  HostField source_;
  std::vector<Check> checks_;
};

}  // namespace

template <typename Precision>
std::vector<Check> check_operator(const Options& options, const Team& team,
                                  const std::vector<Policy>& policies) {
  return Oracles<Precision>(options, team).run(policies);
}

#define DSLASH_ORACLES(P) \
  template std::vector<Check> check_operator<P>(const Options&, const Team&, const std::vector<Policy>&);
DSLASH_ORACLES(Double)
DSLASH_ORACLES(Single)
DSLASH_ORACLES(Half)
#undef DSLASH_ORACLES

}  // namespace dslash
