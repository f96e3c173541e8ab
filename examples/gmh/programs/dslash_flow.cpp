// The kernels of examples/dslash as tasks of GMH ranks (figure 10 of the paper): it prints the time of an
// application on 1, 2, 4, … of the ranks beside one rank's, and a hash of the result that is the same for any
// number of threads and processes.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "examples/dslash/counts.hpp"
#include "examples/dslash/reference.hpp"
#include "examples/gmh/programs/dslash_hops.hpp"
#include "examples/gmh/programs/program.hpp"
#include "examples/support/command_line.hpp"

using namespace gmh_programs;

namespace {

enum class Numbers { in_double, in_single, in_half };
const std::map<std::string, Numbers> numbers_names{
    {"double", Numbers::in_double}, {"single", Numbers::in_single}, {"half", Numbers::in_half}};

enum class Scaling { weak, strong };
const std::map<std::string, Scaling> scaling_names{{"weak", Scaling::weak}, {"strong", Scaling::strong}};

struct Options {
  std::vector<int> extents{24, 24, 24, 32};
  Scaling scaling = Scaling::weak;
  Numbers numbers = Numbers::in_single;
  HopProblem problem;
  int applications = 200;
  int rounds = 5;
  Common common;

  [[nodiscard]] dslash::Lattice lattice_of(int ranks) const {
    const int slices = scaling == Scaling::weak ? extents[3] * ranks : extents[3];
    return {extents[0], extents[1], extents[2], slices};
  }
};

/// The result of this process's ranks, then of all.
struct Outcome {
  std::mutex mutex;
  std::vector<int> teams;       ///< 1, 2, 4, … ranks, and all
  std::vector<double> round_s;  ///< of each of them, the slowest rank's median
  std::uint64_t hash = 0;
  std::uint64_t hash_of_one_piece = 0;  ///< known by the process of rank 0
  double distance_from_host = 0;        ///< the same
};

std::vector<int> teams_of(int ranks) {
  std::vector<int> teams;
  for (int team = 1; team < ranks; team *= 2) teams.push_back(team);
  teams.push_back(ranks);
  return teams;
}

/// What rounding may do to psi, relative to its length: not more than to one application, since errors decay
/// as psi's distance from the solution does.
template <typename Precision>
constexpr double rounding = dslash::is_fixed_point<Precision>       ? 0x1p-13
                            : sizeof(typename Precision::Real) == 4 ? 1e-6
                                                                    : 1e-14;

dslash::HostField applied_by_host(const HopProblem& problem, int applications) {
  const dslash::Reference reference(problem.model, problem.coefficients);
  const dslash::HostField eta = reference.source();
  dslash::HostField psi = eta;
  for (int hop = 0; hop < 2 * applications; ++hop) {
    const dslash::HostField neighbours = reference.hop(psi);
    dslash::for_each_site(reference.lattice(), [&](std::array<int, 4> at) {
      if ((at[0] + at[1] + at[2] + at[3] + hop) % 2 == 0) return;  // odd sites first
      const std::size_t site = dslash::place(reference.lattice(), at);
      for (std::size_t i = 0; i < 12; ++i)
        psi[site][i / 3][i % 3] =
            eta[site][i / 3][i % 3] + problem.coefficients.kappa * neighbours[site][i / 3][i % 3];
    });
  }
  return psi;
}

/// |a − b| / |b|
double relative_distance(const dslash::HostField& a, const dslash::HostField& b) {
  double difference = 0;
  double length = 0;
  for (std::size_t site = 0; site < b.size(); ++site) {
    for (std::size_t i = 0; i < 12; ++i) {
      difference += std::norm(a[site][i / 3][i % 3] - b[site][i / 3][i % 3]);
      length += std::norm(b[site][i / 3][i % 3]);
    }
  }
  return std::sqrt(difference / length);
}

/// A rank that does not take part sleeps until rank 0 is through: it would take turns at MPI else.
void sleep_until_released(gmh_tasklist_t list, int tag) {
  char byte = 0;
  gmh_event_t released = nullptr;
  require(gmh_Irecv(list, nullptr, &byte, 1, GMH_BYTE, 0, tag, &released));
  for (int is_done = 0; is_done == 0;) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    require(gmh_test(&released, &is_done));
  }
}

template <typename Precision>
void run_rank(const Options& options, gmh_tasklist_t list, Outcome& outcome) {
  constexpr int tag_of_release = dslash::most_faces + 1;
  int rank = 0;
  int ranks = 1;
  require(gmh_rank(list, &rank));
  require(gmh_size(list, &ranks));
  const std::vector<int> teams = teams_of(ranks);
  for (const int team : teams) {
    const int slices = options.lattice_of(team).t;
    if (slices % team != 0 || (team > 1 && slices / team < 2))
      throw std::runtime_error("--lattice: " + std::to_string(slices) + " time slices cannot be split over " +
                               std::to_string(team) + " ranks, at least two each");
  }
  std::vector<double> medians_s;
  HopProblem problem = options.problem;
  for (const int team : teams) {
    problem.model.lattice = options.lattice_of(team);
    std::optional<DslashHops<Precision>> hops;
    if (rank < team) {
      hops.emplace(list, problem, rank, team);
      hops->apply(options.applications);  // MPI and CUDA see buffers for the first time
      if (team == ranks) {
        const std::uint64_t hash = dslash::hash_of(hops->result(), hops->slab());
        const std::scoped_lock lock(outcome.mutex);
        outcome.hash += hash;
      }
    }
    std::vector<double> rounds_s(static_cast<std::size_t>(options.rounds));
    for (double& round_s : rounds_s) {
      require(gmh_Barrier(list));
      if (rank >= team) {
        sleep_until_released(list, tag_of_release);
        continue;
      }
      const double start_s = MPI_Wtime();
      hops->apply(options.applications);
      round_s = MPI_Wtime() - start_s;
      for (int idle = team; rank == 0 && idle < ranks; ++idle) {
        const char byte = 0;
        require(gmh_Send(list, nullptr, &byte, 1, GMH_BYTE, idle, tag_of_release));
      }
    }
    medians_s.push_back(example::median_of(rounds_s));
  }
  if (options.common.verify && rank == 0) {
    DslashHops<Precision> one_piece(list, problem, 0, 1);
    one_piece.apply(options.applications);
    const dslash::HostField result = one_piece.result();
    outcome.hash_of_one_piece = dslash::hash_of(result, one_piece.slab());
    outcome.distance_from_host = relative_distance(result, applied_by_host(problem, options.applications));
  }
  const std::scoped_lock lock(outcome.mutex);
  outcome.teams = teams;
  outcome.round_s.resize(teams.size());
  for (std::size_t team = 0; team < teams.size(); ++team)
    outcome.round_s[team] = std::max(outcome.round_s[team], medians_s[team]);
}

Json row_of(const Options& options, const Outcome& outcome, std::size_t team) {
  const int ranks = outcome.teams[team];
  const dslash::Lattice lattice = options.lattice_of(ranks);
  const double application_s = outcome.round_s[team] / options.applications;
  const double one_s = outcome.round_s[0] / options.applications;
  const double ideal_s = options.scaling == Scaling::weak ? one_s : one_s / ranks;
  const auto flops = static_cast<double>(lattice.sites() * (dslash::hop_flops + dslash::xpay_flops));
  return {{"gpus", ranks},
          {"sites", lattice.sites()},
          {"application_us", application_s * 1e6},
          {"time_of_ideal", application_s / ideal_s},
          {"tflops", flops / application_s * 1e-12}};
}

void add_options(CLI::App& app, Options& options) {
  add_common(app, options.common);
  app.add_option("--lattice", options.extents,
                 "extents X,Y,Z,T, all even, of each GPU, or with --scaling strong of all")
      ->delimiter(',')
      ->expected(4)
      ->capture_default_str();
  example::add_choice(app, "--scaling", options.scaling, scaling_names,
                      "T grows with the GPUs, or is split over them");
  example::add_choice(app, "--precision", options.numbers, numbers_names, "of spinors and links");
  app.add_option("--rows", options.problem.rows, "stored rows of links: 2, the third one is computed; or 3")
      ->check(CLI::IsMember({2, 3}))
      ->capture_default_str();
  app.add_option("--kappa", options.problem.coefficients.kappa, "an application is psi = eta + kappa D psi")
      ->check(CLI::Range(0.0, 0.125))
      ->capture_default_str();
  app.add_option("--seed", options.problem.model.seed, "of links and source")->capture_default_str();
  app.add_option("--applications", options.applications, "of a round")
      ->check(at_least_one())
      ->capture_default_str();
  app.add_option("--applications-a-run", options.problem.applications_of_a_run,
                 "of the task list, between two control tasks")
      ->check(at_least_one())
      ->capture_default_str();
  app.add_option("--rounds", options.rounds, "whose median is taken")
      ->check(at_least_one())
      ->capture_default_str();
}

std::string complaint_about(const Options& options) {
  for (const int extent : options.extents) {
    if (extent < 2 || extent % 2 != 0)
      return "--lattice: all extents must be even and positive, got " + std::to_string(extent);
  }
  // Faces are messages of at most 2 GiB, and kernels count a GPU's sites with 31 bits.
  if (options.lattice_of(1).spatial_sites() > std::int64_t{1} << 24 ||
      options.lattice_of(1).sites() > std::int64_t{1} << 30)
    return "--lattice: at most 2^24 sites a time slice, and 2^30 in all";
  return options.applications % options.problem.applications_of_a_run != 0
             ? "--applications: must be a multiple of --applications-a-run"
             : "";
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Outcome outcome;
  CLI::App app{"Wilson's hopping term on GMH ranks as an event flow", "gmh_dslash_flow"};
  add_options(app, options);

  double bound = 0;
  const auto body = [&](gmh_tasklist_t list) {
    switch (options.numbers) {
      case Numbers::in_double:
        return run_rank<dslash::Double>(options, list, outcome);
      case Numbers::in_single:
        return run_rank<dslash::Single>(options, list, outcome);
      case Numbers::in_half:
        return run_rank<dslash::Half>(options, list, outcome);
    }
  };
  const auto finish = [&] {
    bound = options.numbers == Numbers::in_double   ? rounding<dslash::Double>
            : options.numbers == Numbers::in_single ? rounding<dslash::Single>
                                                    : rounding<dslash::Half>;
    const bool has_bits = outcome.hash == outcome.hash_of_one_piece;
    const bool is_right = !options.common.verify || (has_bits && outcome.distance_from_host <= bound);
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(outcome.hash));
    Json about{{"example", "gmh_dslash_flow"},
               {"parameters",
                {{"lattice", options.extents},
                 {"scaling", example::name_of_choice(scaling_names, options.scaling)},
                 {"precision", example::name_of_choice(numbers_names, options.numbers)},
                 {"applications", options.applications},
                 {"applications_a_run", options.problem.applications_of_a_run}}},
               {"hash", hash}};
    if (options.common.verify) about["distance_from_host"] = outcome.distance_from_host;
    std::vector<Json> rows;
    for (std::size_t team = 0; team < outcome.teams.size(); ++team)
      rows.push_back(row_of(options, outcome, team));
    if (!options.common.json)
      std::printf("hash of the fields after %d applications: %s\n", options.applications, hash);
    if (!has_bits && options.common.verify)
      std::fprintf(stderr, "one GPU alone gets other bits: %016llx\n",
                   static_cast<unsigned long long>(outcome.hash_of_one_piece));
    if (options.common.verify && !(outcome.distance_from_host <= bound))
      std::fprintf(stderr, "the host's result is %.3g away, more than %.3g\n", outcome.distance_from_host,
                   bound);
    return print_rows(options.common, about, rows, is_right,
                      "one GPU gets the same bits, and the host the same result");
  };
  const auto sum_up = [&] {
    const std::uint64_t hash = outcome.hash;
    const std::vector<double> round_s = outcome.round_s;
    MPI_Reduce(&hash, &outcome.hash, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(round_s.data(), outcome.round_s.data(), static_cast<int>(round_s.size()), MPI_DOUBLE, MPI_MAX,
               0, MPI_COMM_WORLD);
  };
  return run(
      app, options.common, argc, argv, body, finish, [&] { return complaint_about(options); }, sum_up);
}
