// Wilson's operator and solver on many GPUs: `mpiexec -n 2 penstock run dslash_mpich --lattice 32,32,32,64`.
#include <mpi.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "examples/dslash/direct_zone.hpp"
#include "examples/dslash/gauge_window.hpp"
#include "examples/dslash/options.hpp"
#include "examples/dslash/oracles.hpp"
#include "examples/dslash/precision.hpp"
#include "examples/dslash/result.hpp"
#include "examples/dslash/solution.hpp"
#include "examples/dslash/team.hpp"
#include "examples/dslash/timing.hpp"
#include "examples/dslash/tuning.hpp"
#include "examples/support/gpu_memory.hpp"
#include "examples/support/program.hpp"
#include "examples/support/ranks_gpu.hpp"

namespace {

using dslash::Double;
using dslash::Half;
using dslash::Numbers;
using dslash::Policy;
using dslash::Single;

std::size_t needed_bytes(const dslash::Options& options, Numbers numbers, const dslash::Team& team) {
  switch (numbers) {
    case Numbers::in_double:
      return options.solves ? dslash::solution_bytes<Double, Double>(options, team)
                            : dslash::operator_bytes<Double>(options, team);
    case Numbers::in_single:
      return options.solves ? dslash::solution_bytes<Single, Single>(options, team)
                            : dslash::operator_bytes<Single>(options, team);
    case Numbers::in_half:
      return dslash::operator_bytes<Half>(options, team);
    case Numbers::in_single_half:
      return dslash::solution_bytes<Single, Half>(options, team);
    case Numbers::in_double_half:
      break;
  }
  return dslash::solution_bytes<Double, Half>(options, team);
}

/// What is wrong with memory, and how many right-hand sides or which precision would fit, or nothing.
/// Collective.
std::string memory_complaint(const dslash::Options& options, const dslash::Team& team) {
  const auto complaint_of = [&](const dslash::Options& chosen, Numbers numbers) {
    return example::memory_complaint(static_cast<std::int64_t>(needed_bytes(chosen, numbers, team)),
                                     team.communicator);
  };
  const std::string complaint = complaint_of(options, options.numbers);
  if (complaint.empty()) {
    return complaint;
  }
  for (const int fewer : {6, 4, 2, 1}) {
    dslash::Options chosen = options;
    chosen.sides = fewer;
    if (fewer < options.sides && complaint_of(chosen, options.numbers).empty()) {
      return complaint + "; --right-hand-sides " + std::to_string(fewer) + " would fit";
    }
  }
  const std::vector<Numbers> others =
      options.solves ? std::vector{Numbers::in_double_half, Numbers::in_single_half, Numbers::in_single}
                     : std::vector{Numbers::in_single, Numbers::in_half};
  for (const Numbers other : others) {
    if (needed_bytes(options, other, team) < needed_bytes(options, options.numbers, team) &&
        complaint_of(options, other).empty()) {
      return complaint + "; --precision " + name_of(other) + " would fit";
    }
  }
  return complaint + "; take a smaller --lattice or more GPUs";
}

std::vector<dslash::Check> check(const dslash::Options& options, const dslash::Team& team) {
  switch (options.numbers) {
    case Numbers::in_double:
      return dslash::check_operator<Double>(options, team, options.policies());
    case Numbers::in_single:
      return dslash::check_operator<Single>(options, team, options.policies());
    default:
      return dslash::check_operator<Half>(options, team, options.policies());
  }
}

dslash::Case time(const dslash::Options& options, const dslash::Team& team, Policy policy) {
  switch (options.numbers) {
    case Numbers::in_double:
      return dslash::time_operator<Double>(options, team, policy);
    case Numbers::in_single:
      return dslash::time_operator<Single>(options, team, policy);
    default:
      return dslash::time_operator<Half>(options, team, policy);
  }
}

dslash::Solved solve(const dslash::Options& options, const dslash::Team& team,
                     std::vector<dslash::Check>& checks) {
  switch (options.numbers) {
    case Numbers::in_double:
      return dslash::solve_for_random_source<Double, Double>(options, team, options.policies(), checks);
    case Numbers::in_single:
      return dslash::solve_for_random_source<Single, Single>(options, team, options.policies(), checks);
    case Numbers::in_double_half:
      return dslash::solve_for_random_source<Double, Half>(options, team, options.policies(), checks);
    default:
      return dslash::solve_for_random_source<Single, Half>(options, team, options.policies(), checks);
  }
}

/// With the policy that the tuner has chosen, where it is left to it.
dslash::Options with_tuned_policy(dslash::Options options, const dslash::Team& team, dslash::Result& result) {
  if (const std::optional<dslash::Tuned> tuned = dslash::tune(options, team)) {
    options.transfer.policy = tuned->policy;
    options.transfer.requests = tuned->requests;
    result.tuned.push_back(*tuned);
  }
  return options;
}

/// A rank alone sends nothing, whatever the policy: one is enough there.
void time_policies(const dslash::Options& options, const dslash::Team& team, dslash::Result& result) {
  for (const Policy policy : options.policies()) {
    result.cases.push_back(time(options, team, policy));
    if (team.size == 1) {
      return;
    }
  }
}

/// On so many of the ranks; the others wait.
void time_on(const dslash::Options& options, int rank, int ranks, dslash::Result& result) {
  MPI_Comm some = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &some);
  if (some != MPI_COMM_NULL) {
    dslash::Lattice lattice = options.model.lattice;
    if (options.scaling == dslash::Scaling::weak) {
      lattice.t *= ranks;
    }
    const dslash::Team team(lattice, some, 1);
    time_policies(with_tuned_policy(options, team, result), team, result);
    MPI_Comm_free(&some);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Efficiency against the best policy on one rank, for all cases.
void fill_efficiencies(const dslash::Options& options, std::vector<dslash::Case>& cases) {
  double alone_s = cases.front().application_s;
  for (const dslash::Case& each : cases) {
    alone_s = each.ranks == 1 && each.application_s < alone_s ? each.application_s : alone_s;
  }
  for (dslash::Case& each : cases) {
    const double ideal_s = options.scaling == dslash::Scaling::weak ? alone_s : alone_s / each.ranks;
    each.efficiency = ideal_s / each.application_s;
  }
}

bool needs_direct(const dslash::Options& options) {
  for (const Policy policy : options.policies()) {
    if (policy == Policy::direct) {
      return true;
    }
  }
  return false;
}

/// Rank 0 writes the links to a file, if they are to be. Whether that went well, on all ranks. Collective.
bool write_links(const dslash::Options& options, int rank) {
  int is_good = 1;
  if (rank == 0 && !options.written_path.empty()) {
    std::ofstream file(options.written_path, std::ios::binary);
    dslash::write_ildg(file, options.model, 64);
    file.close();
    is_good = file ? 1 : 0;
    if (!file) {
      std::fprintf(stderr, "dslash: %s cannot be written\n", options.written_path.c_str());
    }
  }
  MPI_Bcast(&is_good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return is_good != 0;
}

/// The program's exit code.
int run(dslash::Options options, int rank, int rank_count) {
  example::choose_gpu();
  const bool is_scaled = options.scaling != dslash::Scaling::none;
  dslash::Lattice lattice = options.model.lattice;
  if (options.scaling == dslash::Scaling::weak) {
    lattice.t *= rank_count;
  }
  const dslash::Team team(lattice, MPI_COMM_WORLD, options.split_z);
  if (!write_links(options, rank)) {
    return 1;
  }
  std::string complaint = memory_complaint(options, team);
  if (complaint.empty() && rank_count > 1 && needs_direct(options)) {
    const std::string of_direct = dslash::DirectZone::complaint(team);
    complaint = of_direct.empty() ? "" : "--policy direct " + of_direct;
  }
  if (!complaint.empty()) {
    if (rank == 0) {
      std::fprintf(stderr, "dslash: %s\n", complaint.c_str());
    }
    return 1;
  }
  dslash::GaugeWindow window;
  if (!options.gauge_path.empty()) {
    const std::string of_file = window.load(options.gauge_path, team, options.verify || is_scaled);
    if (!of_file.empty()) {
      if (rank == 0) {
        std::fprintf(stderr, "dslash: --gauge-file: %s: %s\n", options.gauge_path.c_str(), of_file.c_str());
      }
      return 2;
    }
    options.model.window = window.view();
  }
  dslash::Result result;
  result.rank_count = rank_count;
  dslash::Options chosen = options;
  if (is_scaled) {
    for (int ranks = 1; ranks <= rank_count; ranks *= 2) {
      time_on(options, rank, ranks, result);
    }
  } else {
    chosen = with_tuned_policy(options, team, result);
    if (options.solves) {
      result.solved = solve(chosen, team, result.checks);
    } else {
      time_policies(chosen, team, result);
      if (options.verify) {
        result.checks = check(chosen, team);
      }
    }
  }
  if (rank == 0) {
    if (is_scaled) {
      fill_efficiencies(options, result.cases);
    }
    dslash::print(chosen, result);
  }
  if (result.solved && !result.solved->has_converged()) {
    return 3;
  }
  return options.verify && !result.verified() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program(argc, argv, dslash::read_options, run);
}
