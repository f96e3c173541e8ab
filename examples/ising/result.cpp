#include "examples/ising/result.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

namespace ising {
namespace {

constexpr std::size_t batches = 16;
constexpr std::size_t least_in_a_batch = 10;

double mean_of(const double* values, std::size_t count) {
  return std::accumulate(values, values + count, 0.0) / static_cast<double>(count);
}

/// Successive energies resemble each other, but the means of long batches of them hardly do: their scatter
/// says how well the mean of all is known. A few measurements are taken for no better than one.
double standard_error(const std::vector<double>& energies, double deviation_of_one) {
  const std::size_t in_a_batch = energies.size() / batches;
  if (in_a_batch < least_in_a_batch) {
    return deviation_of_one;
  }
  std::vector<double> means;
  for (std::size_t batch = 0; batch < batches; ++batch) {
    means.push_back(mean_of(&energies[batch * in_a_batch], in_a_batch));
  }
  const double mean = mean_of(means.data(), batches);
  double squares = 0;
  for (const double value : means) {
    squares += (value - mean) * (value - mean);
  }
  return std::sqrt(squares / (batches * (batches - 1)));
}

std::string text_of(const Lattice& lattice) {
  const std::string along_y = lattice.dimensions() == 2 ? "" : std::to_string(lattice.y) + " x ";
  return std::to_string(lattice.x) + " x " + along_y + std::to_string(lattice.z);
}

std::string text_of_hash(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

double updates_per_ns(const Options& options, const Result& result) {
  return static_cast<double>(options.spins()) * options.sweeps / (result.time_s * 1e9);
}

void print_json(const Options& options, const Result& result) {
  std::vector<int> extents{options.lattice.x, options.lattice.y, options.lattice.z};
  if (options.lattice.dimensions() == 2) {
    extents = {options.lattice.x, options.lattice.z};
  }
  nlohmann::ordered_json json{
      {"example", "ising"},
      {"figure_of_merit", {{"value", updates_per_ns(options, result)}, {"unit", "spin updates/ns"}}},
      {"parameters",
       {{"lattice", extents},
        {"replicas", options.replicas},
        {"layout", name_of(options.layout)},
        {"couplings", name_of(options.couplings)},
        {"sweeps", options.sweeps},
        {"measurements", options.measurements},
        {"temperature", options.temperature},
        {"seed", options.seed},
        {"exchange", example::name_of(options.exchange)},
        {"ranks", result.rank_count}}},
      {"time_s", result.time_s},
      {"energy_per_spin", result.energy_per_spin},
      {"magnetisation_per_spin", result.magnetisation_per_spin},
      {"hash", text_of_hash(result.hash)}};
  if (result.mean_square_overlap) {
    json["mean_square_overlap"] = *result.mean_square_overlap;
  }
  if (result.comparison) {
    json["theory"] = {{"name", result.comparison->theory.name},
                      {"energy_per_spin", result.comparison->theory.energy_per_spin},
                      {"off_by_standard_errors", result.comparison->standard_errors}};
  }
  if (options.verify) {
    json["verified"] = result.verified();
  }
  std::puts(json.dump().c_str());
}

void print_verdict(const Options& options, const Result& result) {
  if (*result.wrong_spins == 0) {
    std::printf("verified: all %" PRId64 " spins equal the host reference\n", options.spins());
  } else {
    std::printf("NOT verified: %" PRId64 " of %" PRId64 " spins differ from the host reference\n",
                *result.wrong_spins, options.spins());
  }
  if (!result.comparison) {
    return;
  }
  if (result.comparison->agrees()) {
    std::printf("verified: the energy agrees with %s\n", result.comparison->theory.name);
  } else {
    std::printf(
        "NOT verified: the energy disagrees with %s; more sweeps may be needed to reach equilibrium\n",
        result.comparison->theory.name);
  }
}

void print_text(const Options& options, const Result& result) {
  const std::string replicas =
      options.replicas == 1 ? "" : std::to_string(options.replicas) + " replicas of ";
  std::printf("ising: %s%s spins on %d ranks, T = %g, seed %" PRIu64 ", %u sweeps\n", replicas.c_str(),
              text_of(options.lattice).c_str(), result.rank_count, options.temperature, options.seed,
              options.sweeps);
  std::printf("time %.3f s, %.3g spin updates/ns\n", result.time_s, updates_per_ns(options, result));
  std::printf("energy %.6f, magnetisation %.6f per spin\n", result.energy_per_spin,
              result.magnetisation_per_spin);
  if (result.mean_square_overlap) {
    std::printf("mean square overlap of the replicas %.6f\n", *result.mean_square_overlap);
  }
  if (result.comparison) {
    std::printf("%s: energy %.6f, %.1f standard errors from here\n", result.comparison->theory.name,
                result.comparison->theory.energy_per_spin, result.comparison->standard_errors);
  }
  std::printf("hash of the spins %s\n", text_of_hash(result.hash).c_str());
  if (options.verify) {
    print_verdict(options, result);
  }
}

}  // namespace

std::optional<Comparison> compare_with_theory(const Options& options, const std::vector<double>& energies) {
  const std::optional<Theory> theory = theory_of(options.model(), options.temperature);
  if (!theory) {
    return std::nullopt;
  }
  // Replicas are independent once they share no more than the couplings: all but on the Nishimori line, where
  // these are what deviates.
  const double independent = options.couplings == Couplings::nishimori ? 1.0 : options.replicas;
  const double deviation = theory->deviation / std::sqrt(independent);
  const double difference = mean_of(energies.data(), energies.size()) - theory->energy_per_spin;
  return Comparison{*theory, difference / standard_error(energies, deviation)};
}

void print(const Options& options, const Result& result) {
  (options.json ? print_json : print_text)(options, result);
}

}  // namespace ising
