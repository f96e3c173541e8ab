// A Jacobi solver that GMH runs as an event flow (figure 2 of the paper): it prints the time of a step,
// and a hash that is the same for any number of threads and processes.
#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <mutex>
#include <numeric>

#include "examples/gmh/programs/program.hpp"
#include "examples/gmh/programs/stencil.hpp"

using namespace gmh_programs;

namespace {

/// Computes the whole grid on the host.
std::vector<double> reference(const StencilProblem& problem, int steps) {
  const Grid grid{problem.columns, problem.rows};
  const auto columns = static_cast<std::size_t>(grid.columns);
  std::vector<double> from;
  for (int row = 0; row < grid.rows + 2; ++row) {
    for (int column = 0; column < grid.columns; ++column)
      from.push_back(first_value(row, column, grid.rows + 2, grid.columns));
  }
  std::vector<double> to = from;
  for (int step = 0; step < steps; ++step) {
    for (std::size_t row = 1; row + 1 < from.size() / columns; ++row) {
      for (std::size_t at = row * columns + 1; at + 1 < (row + 1) * columns; ++at)
        to[at] = ((from[at - 1] + from[at + 1]) + (from[at - columns] + from[at + columns])) * 0.25;
    }
    std::swap(from, to);
  }
  return from;
}

/// Hashes every bit with its place. Hashes of parts are added in any order.
std::uint64_t hash_of(const StencilProblem& problem, const StencilPart& part) {
  std::uint64_t sum = 0;
  auto place = static_cast<std::uint64_t>(part.first_row) * static_cast<std::uint64_t>(problem.columns);
  for (const double value : part.values) {
    std::uint64_t mixed =
        (std::bit_cast<std::uint64_t>(value) ^ ++place * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    mixed ^= mixed >> 31;
    sum += mixed * 0x94D049BB133111EBu;
  }
  return sum;
}

std::int64_t count_wrong(const StencilPart& part, const std::vector<double>& expected, int columns) {
  const double* const first = expected.data() + static_cast<std::ptrdiff_t>(part.first_row) * columns;
  return std::inner_product(
      part.values.begin(), part.values.end(), first, std::int64_t{0}, std::plus<>(),
      [](double is, double should) {
        return std::bit_cast<std::uint64_t>(is) == std::bit_cast<std::uint64_t>(should) ? 0 : 1;
      });
}

/// The result of this process's ranks.
struct Outcome {
  std::mutex mutex;
  std::uint64_t hash = 0;
  std::int64_t wrong = 0;
  double seconds = 0;
  int steps = 0;
  double change = 0;
  int ranks = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Common common;
  StencilProblem problem;
  CLI::App app{"A Jacobi solver on GMH ranks as an event flow", "gmh_stencil_flow"};
  add_common(app, common);
  app.add_option("--columns", problem.columns, "of the grid")
      ->check(CLI::Range(3, 1 << 20))
      ->capture_default_str();
  app.add_option("--rows", problem.rows, "of the grid, split over the ranks")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.add_option("--steps", problem.most_steps, "at most")->check(at_least_one())->capture_default_str();
  app.add_option("--steps-a-look", problem.steps, "steps between two looks at the change; even")
      ->check(at_least_one())
      ->capture_default_str();
  app.add_option("--tolerance", problem.tolerance, "ends when no cell changes by more")
      ->capture_default_str();

  Outcome outcome;
  const auto body = [&](gmh_tasklist_t list) {
    int ranks = 1;
    require(gmh_size(list, &ranks));
    if (problem.rows < ranks) throw std::runtime_error("--rows: at least one for each rank");
    Stencil stencil(list, problem);
    const StencilPart part = stencil.solve();
    const std::int64_t wrong =
        common.verify ? count_wrong(part, reference(problem, part.steps_done), problem.columns) : 0;
    const std::scoped_lock lock(outcome.mutex);
    outcome.hash += hash_of(problem, part);
    outcome.wrong += wrong;
    outcome.seconds = std::max(outcome.seconds, part.seconds);
    outcome.steps = part.steps_done;
    outcome.change = part.change;
    outcome.ranks = ranks;
  };
  const auto finish = [&] {
    const double step_s = outcome.seconds / outcome.steps;
    const double updates_per_ns = 1e-9 * problem.rows * problem.columns / step_s;
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(outcome.hash));
    if (common.json) {
      Json json{{"example", "gmh_stencil_flow"},
                {"parameters", parameters_of(common)},
                {"ranks", outcome.ranks},
                {"steps", outcome.steps},
                {"change", outcome.change},
                {"step_us", step_s * 1e6},
                {"figure_of_merit", {{"value", updates_per_ns}, {"unit", "cell updates/ns"}}},
                {"hash", hash}};
      json["parameters"]["rows"] = problem.rows;
      json["parameters"]["columns"] = problem.columns;
      if (common.verify) json["verified"] = outcome.wrong == 0;
      std::printf("%s\n", json.dump().c_str());
    } else {
      std::printf("%d steps of %d x %d cells on %d ranks: %.2f us a step, %.3g cell updates/ns\n",
                  outcome.steps, problem.rows, problem.columns, outcome.ranks, step_s * 1e6, updates_per_ns);
      std::printf("largest change %.9g, hash of the grid %s\n", outcome.change, hash);
      if (common.verify)
        std::printf(outcome.wrong == 0 ? "verified: the same bits as one processor's\n"
                                       : "NOT verified: %lld cells\n",
                    static_cast<long long>(outcome.wrong));
    }
    return outcome.wrong == 0;
  };
  const auto complaint = [&]() -> std::string {
    if (problem.steps % 2 != 0) return "--steps-a-look: must be even";
    return problem.steps > problem.most_steps ? "--steps: at least --steps-a-look" : "";
  };
  const auto sum_up = [&] {
    std::uint64_t hash = outcome.hash;
    std::int64_t wrong = outcome.wrong;
    MPI_Reduce(&hash, &outcome.hash, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &outcome.wrong, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  };
  return run(app, common, argc, argv, body, finish, complaint, sum_up);
}
