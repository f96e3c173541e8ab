#include "examples/bfs/result.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace bfs {
namespace {

std::string text_of_hash(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

std::string text_of(Grid grid) {
  return std::to_string(grid.rows) + "x" + std::to_string(grid.columns);
}

/// Slowest, median and fastest search, in GTEPS.
std::array<double, 3> spread(const std::vector<Timing>& searches) {
  std::vector<double> gteps;
  for (const Timing& search : searches) {
    gteps.push_back(search.teps() / 1e9);
  }
  std::sort(gteps.begin(), gteps.end());
  return {gteps.front(), gteps[gteps.size() / 2], gteps.back()};
}

void print_json(const Options& options, const Result& result) {
  const auto [slowest, median, fastest] = spread(result.searches);
  const double gteps = result.harmonic_mean_teps() / 1e9;
  nlohmann::ordered_json json = {{"example", "bfs"},
                                 {"figure_of_merit", {{"value", gteps}, {"unit", "GTEPS"}}},
                                 {"parameters",
                                  {{"scale", options.scale},
                                   {"edge_factor", options.edge_factor},
                                   {"roots", result.searches.size()},
                                   {"seed", options.seed},
                                   {"grid", text_of(options.grid)},
                                   {"frontier", name_of(options.form)},
                                   {"direction", name_of(options.direction)},
                                   {"exchange", example::name_of(options.exchange)},
                                   {"ranks", result.rank_count}}},
                                 {"gteps_per_rank", gteps / result.rank_count},
                                 {"gteps", {{"slowest", slowest}, {"median", median}, {"fastest", fastest}}},
                                 {"construction_s", result.construction_s},
                                 {"most_vertices_in_a_list", result.most_listed},
                                 {"frontier_bytes_sent", result.sent_bytes},
                                 {"most_levels", result.most_levels},
                                 {"hash", text_of_hash(result.hash)}};
  if (result.violations) {
    json["verified"] = result.verified();
    json["violations_of_rules"] = *result.violations;
  }
  std::puts(json.dump().c_str());
}

void print_text(const Options& options, const Result& result) {
  const auto [slowest, median, fastest] = spread(result.searches);
  const double gteps = result.harmonic_mean_teps() / 1e9;
  std::printf("bfs: scale %d, edge factor %" PRId64 ", seed %" PRIu64 ", %s ranks\n", options.scale,
              options.edge_factor, options.seed, text_of(options.grid).c_str());
  std::printf("graph made in %.3f s, %zu searches of up to %d levels\n", result.construction_s,
              result.searches.size(), result.most_levels);
  if (result.rank_count > 1) {
    std::printf("%.6g MB sent for frontiers; sets of more than %" PRId64 " vertices as bitmaps\n",
                static_cast<double>(result.sent_bytes) / 1e6, result.most_listed);
  }
  std::printf("%.4g GTEPS (harmonic mean), %.4g a rank; slowest %.4g, median %.4g, fastest %.4g\n", gteps,
              gteps / result.rank_count, slowest, median, fastest);
  std::printf("hash of the trees %s\n", text_of_hash(result.hash).c_str());
  if (!result.violations) {
    return;
  }
  if (result.verified()) {
    std::printf("verified: all %zu trees obey the five rules\n", result.searches.size());
  }
  for (std::size_t rule = 0; rule < result.violations->size(); ++rule) {
    if ((*result.violations)[rule] != 0) {
      std::printf("NOT verified: rule %zu is broken %" PRId64 " times\n", rule + 1,
                  (*result.violations)[rule]);
    }
  }
}

}  // namespace

bool Result::verified() const {
  return violations &&
         std::all_of(violations->begin(), violations->end(), [](std::int64_t count) { return count == 0; });
}

double Result::harmonic_mean_teps() const {
  double sum = 0;
  for (const Timing& search : searches) {
    sum += 1 / search.teps();
  }
  return static_cast<double>(searches.size()) / sum;
}

void print(const Options& options, const Result& result) {
  (options.json ? print_json : print_text)(options, result);
}

}  // namespace bfs
