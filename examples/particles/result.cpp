#include "examples/particles/result.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace particles {
namespace {

constexpr double record_bytes = 16;

std::string text_of_hash(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

std::string name_of_domain(const Options& options) {
  return options.geometry.empty() ? name_of(options.shape) : "file";
}

double selective_share(const Survey& survey) {
  return survey.sent_to_all_share > 0 ? survey.sent_share / survey.sent_to_all_share : 0;
}

nlohmann::ordered_json json_of(const Survey& survey) {
  return {{"pieces", survey.pieces},
          {"voxels", survey.voxels},
          {"imbalance", survey.imbalance},
          {"edge_cut", survey.edge_cut},
          {"mean_neighbours", survey.mean_neighbours},
          {"most_neighbours", survey.most_neighbours},
          {"sent_share", survey.sent_share},
          {"sent_to_all_share", survey.sent_to_all_share},
          {"selective_over_all", selective_share(survey)}};
}

nlohmann::ordered_json json_of(const Options& options) {
  nlohmann::ordered_json json = {{"domain", name_of_domain(options)},
                                 {"model", name_of(options.pair)},
                                 {"density", options.density},
                                 {"temperature", options.temperature},
                                 {"time_step", options.time_step},
                                 {"steps", options.steps},
                                 {"seed", options.seed},
                                 {"voxels_per_cutoff", options.voxels_per_cutoff},
                                 {"partition", options.partition},
                                 {"send", name_of(options.send)},
                                 {"exchange", name_of(options.exchange)},
                                 {"counts", name_of(options.counts)},
                                 {"overlap", options.overlap}};
  if (options.pair == PairForce::soft) {
    json["repulsion"] = options.repulsion;
  }
  if (options.dpd) {
    json["dpd"] = {options.dpd->friction, options.dpd->temperature};
  }
  if (options.body_force != std::array<double, 3>{}) {
    json["body_force"] = options.body_force;
  }
  if (options.rebalance_every > 0) {
    json["rebalance_every"] = options.rebalance_every;
  }
  if (!options.geometry.empty()) {
    json["geometry"] = options.geometry;
  } else if (!options.has_vessel()) {
    json["size"] = options.size;
  } else {
    json["depth"] = options.shape == Shape::tree ? options.depth : 0;
    json["size"] = options.size[0];
    json["radii"] = options.radii;
  }
  if (options.has_vessel()) {
    json["wall"] = options.bounces_back ? "bounce-back" : "specular";
  }
  return json;
}

void print_json(const Options& options, const Result& result) {
  const double rate = result.particle_steps_per_s();
  nlohmann::ordered_json json = {{"example", "particles"},
                                 {"figure_of_merit", {{"value", rate / 1e9}, {"unit", "G particle steps/s"}}},
                                 {"parameters", json_of(options)},
                                 {"particles", result.particles},
                                 {"time_s", result.time_s},
                                 {"g_particle_steps_per_s_and_rank", rate / 1e9 / result.rank_count},
                                 {"partition", json_of(result.survey)},
                                 {"sent_bytes_a_step", result.sent_records_a_step * record_bytes},
                                 {"sent_over_touching", result.sent_over_touching},
                                 {"migrated_a_step", result.migrated_a_step},
                                 {"put_back", result.put_back},
                                 {"energy_a_particle", result.energy_a_particle},
                                 {"energy_drift", result.energy_drift},
                                 {"temperature", result.temperature},
                                 {"pressure", result.pressure},
                                 {"hash", text_of_hash(result.hash)}};
  json["parameters"]["ranks"] = result.rank_count;
  if (result.fitted_drift) {
    json["energy_drift_fitted"] = *result.fitted_drift;
  }
  if (result.pack_s > 0) {
    json["packing"] = {{"bytes", result.packed_bytes},
                       {"time_s", result.pack_s},
                       {"gb_per_s_and_rank", result.packed_bytes_per_s() / 1e9}};
  }
  for (const Rebalancing& done : result.rebalancings) {
    json["rebalancings"].push_back({{"step", done.step},
                                    {"imbalance_before", done.imbalance_before},
                                    {"imbalance_after", done.imbalance_after},
                                    {"time_s", done.time_s}});
  }
  if (!result.checks.empty()) {
    json["verified"] = result.verified();
    for (const Check& check : result.checks) {
      json["checks"].push_back({{"what", check.what}, {"passed", check.passed}, {"found", check.found}});
    }
  }
  std::puts(json.dump().c_str());
}

void print_survey(const Survey& survey) {
  std::printf("%d pieces of %" PRId64 " voxels: largest %.2f %% above the mean, %" PRId64
              " faces cut, %.3g neighbours (most %d)\n",
              survey.pieces, survey.voxels, 100 * survey.imbalance, survey.edge_cut, survey.mean_neighbours,
              survey.most_neighbours);
  std::printf("sent in a step: %.3g %% of the particles; if to all neighbours %.3g %%, so %.3g of that\n",
              100 * survey.sent_share, 100 * survey.sent_to_all_share, selective_share(survey));
}

void print_text(const Options& options, const Result& result) {
  const double rate = result.particle_steps_per_s();
  std::printf("particles: %" PRId64 " in a %s, partition %s, %d ranks, time step %g\n", result.particles,
              name_of_domain(options).c_str(), options.partition.c_str(), result.rank_count,
              options.time_step);
  if (result.rank_count > 1) {
    print_survey(result.survey);
    std::printf("%.6g kB sent a step, %.3g times what interacts there; %.4g particles change owner a step\n",
                result.sent_records_a_step * record_bytes / 1e3, result.sent_over_touching,
                result.migrated_a_step);
  }
  if (result.pack_s > 0) {
    std::printf("packed by a rank at %.4g GB/s\n", result.packed_bytes_per_s() / 1e9);
  }
  for (const Rebalancing& done : result.rebalancings) {
    std::printf("rebalanced after step %" PRId64
                ": fullest rank %.2f %% above the mean, then %.2f %%; in %.4g s\n",
                done.step, 100 * done.imbalance_before, 100 * done.imbalance_after, done.time_s);
  }
  std::printf("energy %.6g a particle, drift %.2e; temperature %.6g, pressure %.6g; %" PRId64
              " put back at the wall\n",
              result.energy_a_particle, result.energy_drift, result.temperature, result.pressure,
              result.put_back);
  if (result.fitted_drift) {
    std::printf("energy drift, by a line through many steps, %.2e\n", *result.fitted_drift);
  }
  std::printf("%.4g G particle steps/s, %.4g a rank; %" PRId64 " steps in %.4g s\n", rate / 1e9,
              rate / 1e9 / result.rank_count, result.steps, result.time_s);
  std::printf("hash of the particles %s\n", text_of_hash(result.hash).c_str());
  for (const Check& check : result.checks) {
    std::printf("%s: %s: %s\n", check.passed ? "verified" : "NOT verified", check.what.c_str(),
                check.found.c_str());
  }
}

}  // namespace

bool Result::verified() const {
  return std::all_of(checks.begin(), checks.end(), [](const Check& check) { return check.passed; });
}

void print(const Options& options, const Result& result) {
  (options.json ? print_json : print_text)(options, result);
}

void print(const Options& options, const Survey& survey) {
  if (!options.json) {
    print_survey(survey);
    return;
  }
  const nlohmann::ordered_json json = {
      {"example", "particles"}, {"parameters", json_of(options)}, {"partition", json_of(survey)}};
  std::puts(json.dump().c_str());
}

}  // namespace particles
