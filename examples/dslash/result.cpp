#include "examples/dslash/result.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "examples/dslash/counts.hpp"

namespace dslash {
namespace {

/// Operations a site of BiCGstab's linear algebra: dot products, sums of three vectors.
constexpr std::int64_t iteration_flops = 96 + 96 + 144 + 432 + 192;
/// And of conjugate gradients': three norms, three sums of two vectors.
constexpr std::int64_t gradients_flops = 3 * 48 + 3 * 96;

std::int64_t real_bytes(Numbers numbers) {
  switch (numbers) {
    case Numbers::in_double:
      return 8;
    case Numbers::in_single:
      return 4;
    case Numbers::in_half:
    case Numbers::in_single_half:
    case Numbers::in_double_half:
      break;
  }
  return 2;
}

/// What is timed, on all sites: a hopping term each, or a matrix for each even site.
double sites_done(const Options& options, const Case& of) {
  const std::int64_t sites = of.lattice.sites() * options.sides;
  return static_cast<double>(options.times_matrix() ? sites / 2 : sites);
}

double gigabytes_per_s(const Options& options, const Case& of, Reuse reuse) {
  const std::int64_t bytes = real_bytes(options.numbers);
  const double of_site = options.times_matrix()
                             ? clover_matrix_bytes(reuse, bytes, 6 * options.rows, options.sides)
                             : hop_bytes(reuse, bytes, 6 * options.rows, options.sides);
  return of_site * sites_done(options, of) / of.application_s * 1e-9;
}

std::int64_t matrix_flops(const Options& options) {
  return options.coefficients.has_clover() ? clover_matrix_flops : 2 * hop_flops + xpay_flops;
}

std::string text_of(const Lattice& lattice) {
  return std::to_string(lattice.x) + " x " + std::to_string(lattice.y) + " x " + std::to_string(lattice.z) +
         " x " + std::to_string(lattice.t);
}

std::string text_of_hash(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

/// The fastest of those on most ranks.
const Case& best_of(const std::vector<Case>& cases) {
  return *std::max_element(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return std::pair(a.ranks, -a.application_s) < std::pair(b.ranks, -b.application_s);
  });
}

nlohmann::ordered_json json_of(const Options& options, const Case& of) {
  nlohmann::ordered_json json{{"policy", name_of(of.policy)},
                              {"ranks", of.ranks},
                              {"lattice", {of.lattice.x, of.lattice.y, of.lattice.z, of.lattice.t}},
                              {"application_s", of.application_s},
                              {"tflops", tflops(options, of)},
                              {"gbytes_per_s",
                               {{"no_reuse", gigabytes_per_s(options, of, Reuse::none)},
                                {"perfect_reuse", gigabytes_per_s(options, of, Reuse::perfect)}}}};
  if (of.efficiency) {
    json["efficiency"] = *of.efficiency;
  }
  return json;
}

nlohmann::ordered_json json_of(const SolvedSide& side) {
  return {{"has_converged", side.has_converged},       {"iterations", side.residuals.size()},
          {"reliable_updates", side.reliable_updates}, {"restarts", side.restarts},
          {"went_on_by_cg", side.has_given_up},        {"true_residual", side.true_residual},
          {"hash", text_of_hash(side.hash)},           {"residuals", side.residuals}};
}

nlohmann::ordered_json json_of(const Options& options, const Solved& solved) {
  nlohmann::ordered_json json{{"method", name_of(options.method)},
                              {"one_by_one", options.one_by_one},
                              {"has_converged", solved.has_converged()},
                              {"iterations", solved.iterations()},
                              {"reliable_updates", solved.reliable_updates()},
                              {"restarts", solved.restarts()},
                              {"tolerance", solved.tolerance},
                              {"delta", solved.delta},
                              {"true_residual", solved.true_residual()},
                              {"time_s", solved.seconds},
                              {"tflops", tflops(options, solved)},
                              {"matrix_alone_s", solved.matrix_s},
                              {"hash", text_of_hash(solved.hash())}};
  json["right_hand_sides"] = nlohmann::ordered_json::array();
  for (const SolvedSide& side : solved.sides) {
    json["right_hand_sides"].push_back(json_of(side));
  }
  return json;
}

void print_json(const Options& options, const Result& result) {
  const Lattice& lattice = options.model.lattice;
  nlohmann::ordered_json json{
      {"example", "dslash"},
      {"figure_of_merit",
       {{"value", result.solved ? tflops(options, *result.solved) : tflops(options, best_of(result.cases))},
        {"unit", "TF"}}},
      {"parameters",
       {{"lattice", {lattice.x, lattice.y, lattice.z, lattice.t}},
        {"precision", name_of(options.numbers)},
        {"rows", options.rows},
        {"split_z", options.split_z},
        {"right_hand_sides", options.sides},
        {"exchange", example::name_of(options.transfer.exchange)},
        {"requests", name_of(options.transfer.requests)},
        {"without", name_of(options.transfer.without)},
        {"reduction", name_of(options.reduction)},
        {"scaling", name_of(options.scaling)},
        {"gauge", name_of(options.model.gauge)},
        {"gauge_file", options.gauge_path},
        {"noise", options.model.noise},
        {"anisotropy", options.coefficients.anisotropy},
        {"antiperiodic", options.coefficients.is_antiperiodic},
        {"kappa", options.coefficients.kappa},
        {"clover", options.coefficients.clover},
        {"seed", options.model.seed},
        {"applications", options.applications},
        {"rounds", options.rounds},
        {"ranks", result.rank_count}}}};
  for (const Tuned& tuned : result.tuned) {
    json["tuned"].push_back({{"ranks", tuned.ranks},
                             {"policy", name_of(tuned.policy)},
                             {"requests", name_of(tuned.requests)},
                             {"is_measured_now", tuned.is_measured}});
  }
  if (result.solved) {
    json["parameters"]["policy"] = name_of(options.transfer.policy);
    json["solver"] = json_of(options, *result.solved);
  } else {
    json["cases"] = nlohmann::ordered_json::array();
    for (const Case& each : result.cases) {
      json["cases"].push_back(json_of(options, each));
    }
    json["best_policy"] = name_of(best_of(result.cases).policy);
  }
  if (options.verify) {
    for (const Check& check : result.checks) {
      json["checks"].push_back(
          {{"name", check.name}, {"value", check.value}, {"bound", check.bound}, {"passes", check.passes()}});
    }
    json["verified"] = result.verified();
  }
  std::puts(json.dump().c_str());
}

void print_case(const Options& options, const Case& of) {
  std::printf("%-11s %2d ranks, %s: %.3f us, %.3g TF, %.4g GB/s without reuse, %.4g GB/s with",  //
              name_of(of.policy).c_str(), of.ranks, text_of(of.lattice).c_str(), of.application_s * 1e6,
              tflops(options, of), gigabytes_per_s(options, of, Reuse::none),
              gigabytes_per_s(options, of, Reuse::perfect));
  if (of.efficiency) {
    std::printf(", efficiency %.3f", *of.efficiency);
  }
  std::puts("");
}

void print_side(const Solved& solved, std::size_t index) {
  const SolvedSide& side = solved.sides[index];
  if (!side.has_converged) {
    for (std::size_t i = 0; i < side.residuals.size(); ++i) {
      std::printf("iteration %zu: residual %.3e\n", i + 1, side.residuals[i]);
    }
  }
  if (solved.sides.size() > 1) {
    std::printf("right-hand side %zu: %zu iterations, true residual %.3e\n", index, side.residuals.size(),
                side.true_residual);
  }
  if (side.restarts > 0) {
    std::printf("right-hand side %zu: BiCGstab broke down and started anew%s\n", index,
                side.has_given_up ? "; it broke down again, and conjugate gradients went on" : "");
  }
}

void print_solved(const Options& options, const Solved& solved) {
  for (std::size_t side = 0; side < solved.sides.size(); ++side) {
    print_side(solved, side);
  }
  std::printf("%s: %zu iterations, %d reliable updates, %d restarts, %.4f s, %.3g TF\n",
              solved.has_converged() ? "converged" : "NOT converged", solved.iterations(),
              solved.reliable_updates(), solved.restarts(), solved.seconds, tflops(options, solved));
  std::printf("true residual %.3e (tolerance %.1e); as many matrices alone take %.4f s\n",
              solved.true_residual(), solved.tolerance, solved.matrix_s);
  std::printf("hash of the history %s\n", text_of_hash(solved.hash()).c_str());
}

void print_text(const Options& options, const Result& result) {
  std::printf("dslash: %s on %s sites, %s precision, %d rows, %d sides, %d ranks, faces %s\n",
              options.coefficients.has_clover() ? "Wilson-clover even-odd matrix" : "Wilson operator",
              text_of(options.model.lattice).c_str(), name_of(options.numbers).c_str(), options.rows,
              options.sides, result.rank_count, example::name_of(options.transfer.exchange));
  if (options.transfer.without != Stage::nothing) {
    std::printf("results are WRONG: %s is left out\n", name_of(options.transfer.without).c_str());
  }
  const Lattice& lattice = options.model.lattice;
  if (lattice.x / 2 * lattice.y % 32 != 0) {
    std::puts("half a plane along x and y is no multiple of a warp's 32 sites: this is slower");
  }
  for (const Tuned& tuned : result.tuned) {
    std::printf("tuned for %d ranks: %s, requests %s, %s %s\n", tuned.ranks, name_of(tuned.policy).c_str(),
                name_of(tuned.requests).c_str(), tuned.is_measured ? "measured now; see" : "known from",
                options.tuning_path.c_str());
  }
  for (const Case& each : result.cases) {
    print_case(options, each);
  }
  if (result.cases.size() > 1) {
    std::printf("best: %s\n", name_of(best_of(result.cases).policy).c_str());
  }
  if (result.solved) {
    print_solved(options, *result.solved);
  }
  for (const Check& check : result.checks) {
    std::printf("%s: %s: %.2e, at most %.2e\n", check.passes() ? "verified" : "NOT verified",
                check.name.c_str(), check.value, check.bound);
  }
}

}  // namespace

bool Result::verified() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passes(); });
}

bool Solved::has_converged() const {
  return std::ranges::all_of(sides, &SolvedSide::has_converged);
}

std::size_t Solved::iterations() const {
  return std::accumulate(sides.begin(), sides.end(), std::size_t{0},
                         [](std::size_t sum, const SolvedSide& side) { return sum + side.residuals.size(); });
}

int Solved::reliable_updates() const {
  return std::accumulate(sides.begin(), sides.end(), 0,
                         [](int sum, const SolvedSide& side) { return sum + side.reliable_updates; });
}

int Solved::restarts() const {
  return std::accumulate(sides.begin(), sides.end(), 0,
                         [](int sum, const SolvedSide& side) { return sum + side.restarts; });
}

double Solved::true_residual() const {
  double largest = 0;
  for (const SolvedSide& side : sides) {
    largest = side.true_residual <= largest ? largest : side.true_residual;  // one that is no number, too
  }
  return largest;
}

std::uint64_t Solved::hash() const {
  return std::accumulate(
      sides.begin(), sides.end(), std::uint64_t{0},
      [](std::uint64_t hash, const SolvedSide& side) { return 0x9E3779B97F4A7C15 * hash + side.hash; });
}

double tflops(const Options& options, const Case& of) {
  const std::int64_t flops = options.times_matrix() ? matrix_flops(options) : hop_flops;
  return static_cast<double>(flops) * sites_done(options, of) / of.application_s * 1e-12;
}

double tflops(const Options& options, const Solved& solved) {
  const auto iterations = static_cast<std::int64_t>(solved.iterations());
  const std::int64_t matrices = 2 * iterations + solved.reliable_updates();
  const std::int64_t algebra_flops = options.method == Method::gradients ? gradients_flops : iteration_flops;
  const std::int64_t flops_of_site = matrices * matrix_flops(options) + iterations * algebra_flops;
  return static_cast<double>(flops_of_site) * static_cast<double>(options.model.lattice.sites() / 2) /
         solved.seconds * 1e-12;
}

void print(const Options& options, const Result& result) {
  (options.json ? print_json : print_text)(options, result);
}

}  // namespace dslash
