#include "examples/dslash/tuning.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>

#include "examples/dslash/precision.hpp"
#include "examples/dslash/sides_solver.hpp"
#include "examples/dslash/timing.hpp"
#include "examples/dslash/tuning_file.hpp"

namespace dslash {
namespace {

std::string first_line(std::string text) {
  std::ranges::replace(text, '\t', ' ');
  return text.substr(0, text.find('\n'));
}

/// What NVIDIA's kernel module says of itself; else the CUDA version that the driver has.
std::string driver_version() {
  std::ifstream module("/proc/driver/nvidia/version");
  std::string line;
  if (std::getline(module, line)) {
    return line;
  }
  int version = 0;
  example::check(cudaDriverGetVersion(&version), "ask for the driver's version");
  return "for CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Of this rank.
Machine this_machine() {
  int device = 0;
  example::check(cudaGetDevice(&device), "ask for the GPU");
  cudaDeviceProp properties{};
  example::check(cudaGetDeviceProperties(&properties, device), "ask for the GPU's name");
  char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  MPI_Get_library_version(mpi, &length);
  return {properties.name, driver_version(), first_line(mpi)};
}

/// The precision in which most applications are.
Numbers inner(Numbers numbers) {
  return numbers == Numbers::in_single_half || numbers == Numbers::in_double_half ? Numbers::in_half
                                                                                  : numbers;
}

double application_s(const Options& options, const Team& team) {
  const Policy policy = options.transfer.policy;
  switch (options.numbers) {
    case Numbers::in_double:
      return time_operator<Double>(options, team, policy).application_s;
    case Numbers::in_single:
      return time_operator<Single>(options, team, policy).application_s;
    default:
      return time_operator<Half>(options, team, policy).application_s;
  }
}

std::vector<Measured> measure_all(Options options, const Team& team) {
  std::vector<Measured> all;
  for (const Policy policy :
       {Policy::none, Policy::one_stream, Policy::streams, Policy::streams_two, Policy::fused_pack}) {
    for (const MpiRequests requests : {MpiRequests::each_time, MpiRequests::persistent}) {
      options.transfer.policy = policy;
      options.transfer.requests = requests;
      all.push_back({policy, requests, application_s(options, team)});
    }
  }
  return all;
}

void say(const Team& team, const std::string& line) {
  if (team.rank == 0 && !line.empty()) {
    std::fprintf(stderr, "dslash: %s\n", line.c_str());
  }
}

}  // namespace

std::optional<Tuned> tune(const Options& options, const Team& team) {
  if (!options.tunes || team.size == 1) {
    return std::nullopt;
  }
  Options timed = options;
  timed.numbers = inner(options.numbers);
  timed.sides = options.solves ? sides_at_once(options) : options.sides;
  const Slab& slab = team.slab;
  const TuningKey key{{slab.lattice.x, slab.lattice.y, slab.planes, slab.slices},
                      timed.numbers,
                      options.rows,
                      timed.sides,
                      options.coefficients.has_clover(),
                      options.transfer.exchange,
                      team.size,
                      team.ranks_along_z};
  // Rank 0 alone reads and writes.
  std::optional<TuningFile> file;
  std::optional<Measured> kept;
  if (team.rank == 0) {
    file.emplace(options.tuning_path, this_machine());
    say(team, file->complaint());
    kept = file->fastest(key);
  }
  struct {
    int is_kept;
    Measured fastest;
  } choice{kept ? 1 : 0, kept.value_or(Measured{})};
  MPI_Bcast(&choice, sizeof choice, MPI_BYTE, 0, team.communicator);
  if (choice.is_kept != 0) {
    return Tuned{team.size, choice.fastest.policy, choice.fastest.requests, false};
  }
  const std::vector<Measured> all = measure_all(timed, team);
  if (file && file->complaint().empty()) {
    say(team, file->keep(key, all));
  }
  const Measured fastest = fastest_of(all);
  return Tuned{team.size, fastest.policy, fastest.requests, true};
}

}  // namespace dslash
