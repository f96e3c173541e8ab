#include "examples/dslash/options.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "examples/dslash/ildg.hpp"
#include "examples/dslash/names.hpp"
#include "examples/dslash/tuning_file.hpp"
#include "examples/support/command_line.hpp"

namespace dslash {
namespace {

constexpr const char* policies_table =
    "policy      pack                 meanwhile  faces by          then\n"
    "none        a kernel             nothing    MPI               one kernel for all slices\n"
    "one-stream  a kernel             interior   MPI               one kernel, on the same stream\n"
    "streams     a kernel, 2nd stream interior   MPI               one kernel for both outer slices\n"
    "streams-two a kernel, 2nd stream interior   MPI               a kernel for each as its face comes\n"
    "fused-pack  in interior's kernel interior   MPI, after a flag one kernel for both outer slices\n"
    "direct      into neighbours      interior   stores over IPC   the same kernel, which waits for flags\n";

std::optional<Lattice> parse_lattice(std::string_view text) {
  int extents[4] = {};
  for (int i = 0; i < 4; ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extents[i]);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (i < 3) {
      if (text.empty() || (text.front() != ',' && text.front() != 'x')) {
        return std::nullopt;
      }
      text.remove_prefix(1);
    }
  }
  return text.empty() ? std::optional<Lattice>({extents[0], extents[1], extents[2], extents[3]})
                      : std::nullopt;
}

/// What is wrong with the file of links, or nothing. The lattice is the file's if none is `named`.
std::string take_gauge_file(Options& options, bool is_lattice_named) {
  std::ifstream file(options.gauge_path, std::ios::binary);
  if (!file) {
    return "--gauge-file: " + options.gauge_path + " cannot be opened";
  }
  try {
    const Lattice lattice = IldgHeader::read(file).lattice;
    if (is_lattice_named && !(lattice == options.model.lattice)) {
      return "--lattice: is not that of " + options.gauge_path;
    }
    options.model.lattice = lattice;
    options.model.gauge = Gauge::file;
    return "";
  } catch (const FormatError& error) {
    return "--gauge-file: " + options.gauge_path + ": " + error.what();
  }
}

/// Numbers of ranks, up to 64, that leave each at least two slices, and all the same.
std::string ranks_that_divide(int slices) {
  std::string list = "1";
  for (int ranks = 2; ranks <= 64 && 2 * ranks <= slices; ++ranks) {
    if (slices % ranks == 0) {
      list += ", " + std::to_string(ranks);
    }
  }
  return list;
}

std::string z_complaint(const Options& options, int rank_count) {
  const int split = options.split_z;
  const int planes = options.model.lattice.z;
  if (split < 1 || rank_count % split != 0) {
    return "--split-z: " + std::to_string(split) + " does not divide " + std::to_string(rank_count) +
           " ranks";
  }
  return planes % split != 0 || (split > 1 && planes / split < 2)
             ? "--split-z: " + std::to_string(planes) + " planes along z cannot be split over " +
                   std::to_string(split) + " ranks, at least two each"
             : "";
}

std::string lattice_complaint(const Options& options, int rank_count) {
  const Lattice& lattice = options.model.lattice;
  for (const int extent : {lattice.x, lattice.y, lattice.z, lattice.t}) {
    if (extent < 2 || extent % 2 != 0) {
      return "all extents must be even and positive, got " + std::to_string(extent);
    }
  }
  const int ranks = options.scaling == Scaling::weak ? 1 : rank_count / options.split_z;
  if (lattice.t % ranks != 0 || (ranks > 1 && lattice.t / ranks < 2)) {
    return std::to_string(lattice.t) + " time slices cannot be split over " + std::to_string(ranks) +
           " ranks, at least two each; over these they can: " + ranks_that_divide(lattice.t);
  }
  constexpr std::int64_t most_sites = std::int64_t{1} << 30;  // kernels count them with 31 bits
  if (lattice.sites() / ranks > most_sites) {
    return "a rank may have 2^30 sites at most; take more ranks";
  }
  constexpr std::int64_t most_of_slice = std::int64_t{1} << 24;  // a face's bytes are an int for MPI
  return lattice.spatial_sites() > most_of_slice ? "a time slice may have 2^24 sites at most" : "";
}

std::string number_complaint(const Options& options) {
  const auto is_positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!is_positive(options.coefficients.anisotropy)) {
    return "--anisotropy: must be positive";
  }
  if (!is_positive(options.coefficients.kappa)) {
    return "--kappa: must be positive";
  }
  if (!std::isfinite(options.coefficients.clover)) {
    return "--clover: must be a number";
  }
  if (!(options.model.noise >= 0) || options.model.noise > 1) {
    return "--noise: from 0 to 1";
  }
  if (options.applications < 1 || options.rounds < 1 || options.iterations < 1) {
    return "--applications, --bench and --iterations: at least 1";
  }
  if (!(options.tolerance >= 0) || options.tolerance >= 1 || !(options.delta >= 0) || options.delta >= 1) {
    return "--tolerance and --delta: between 0 and 1";
  }
  return "";
}

std::string complaint(const Options& options, int rank_count) {
  const std::string of_z = z_complaint(options, rank_count);
  if (!of_z.empty()) {
    return of_z;
  }
  const std::string of_lattice = lattice_complaint(options, rank_count);
  if (!of_lattice.empty()) {
    return "--lattice: " + of_lattice;
  }
  const bool is_mixed =
      options.numbers == Numbers::in_single_half || options.numbers == Numbers::in_double_half;
  if (options.solves && options.numbers == Numbers::in_half) {
    return "--precision: half alone solves nothing; take double, single, single-half or double-half";
  }
  if (!options.solves && is_mixed) {
    return "--precision: " + name_of(options.numbers) + " needs --solve";
  }
  if (options.solves && options.all_policies) {
    return "--policy: all is not for --solve";
  }
  if (options.scaling == Scaling::weak && !options.gauge_path.empty()) {
    return "--scaling: weak is not for --gauge-file, whose lattice does not grow";
  }
  if (options.scaling != Scaling::none && (options.solves || options.verify)) {
    return "--scaling: not with --solve or --verify";
  }
  if (options.split_z > 1 && options.scaling != Scaling::none) {
    return "--split-z: not with --scaling";
  }
  const int z_blocks = z_blocks_of_sums(options.model.lattice);
  if (options.reduction == Reduction::by_slice && z_blocks % options.split_z != 0) {
    return "--split-z: with --reduction by-slice it must divide " + std::to_string(z_blocks);
  }
  if (options.tunes && options.transfer.without != Stage::nothing) {
    return "--policy: tuned is not for --without";
  }
  if (options.transfer.without != Stage::nothing && (options.solves || options.verify)) {
    return "--without: results are wrong, so not with --solve or --verify";
  }
  if (options.transfer.without == Stage::copy &&
      options.transfer.exchange != example::Exchange::staged_by_hand) {
    return "--without: copy needs --exchange staged-by-hand";
  }
  return number_complaint(options);
}

void add_options(CLI::App& app, Options& options, std::string& lattice, std::string& policy,
                 bool& shows_policies) {
  app.add_option("--lattice", lattice, "extents X,Y,Z,T, all even; T is split over the ranks")
      ->capture_default_str();
  app.add_option("--split-z", options.split_z, "so many of the ranks split z; the others split T")
      ->capture_default_str();
  example::add_choice(app, "--precision", options.numbers, numbers_names,
                      "of the operator; or of the solver, outer and inner");
  app.add_option("--rows", options.rows, "stored rows of links: 2, the third one is computed; or 3")
      ->check(CLI::IsMember({2, 3}))
      ->capture_default_str();
  app.add_option("--right-hand-sides", options.sides, "so many spinor fields at once share the links")
      ->check(CLI::IsMember({1, 2, 4, 6, 12}))
      ->capture_default_str();
  app.add_option(
         "--policy", policy,
         "how faces travel, and what is computed meanwhile (--policies says more); or all policies, or "
         "tuned: the fastest that uses MPI")
      ->check(CLI::IsMember(
          {"none", "one-stream", "streams", "streams-two", "fused-pack", "direct", "all", "tuned"}))
      ->capture_default_str();
  app.add_option("--tuning", options.tuning_path, "file where --policy tuned keeps what it has measured")
      ->capture_default_str();
  app.add_flag("--policies", shows_policies, "print the table of policies, and what the tuning file knows");
  example::add_exchange(app, options.transfer.exchange);
  example::add_choice(app, "--requests", options.transfer.requests, requests_names,
                      "MPI's requests for faces: made each time, or once and started again");
  example::add_choice(app, "--without", options.transfer.without, stage_names,
                      "leave a stage out, to learn what it costs; results are wrong then");
  example::add_choice(app, "--gauge", options.model.gauge, gauge_names,
                      "links: the identity, with noise, or of a constant field strength");
  app.add_option("--gauge-file", options.gauge_path,
                 "links from a file in ILDG's format, and the lattice too")
      ->excludes("--gauge");
  app.add_option("--write-gauge", options.written_path, "write the links to a file in ILDG's format")
      ->excludes("--gauge-file");
  app.add_option("--noise", options.model.noise, "of a weak gauge field")->capture_default_str();
  app.add_option("--anisotropy", options.coefficients.anisotropy, "hops in space are divided by it")
      ->capture_default_str();
  example::add_choice(app, "--time-boundary", options.coefficients.is_antiperiodic, boundary_names,
                      "of spinors in time");
  app.add_option("--kappa", options.coefficients.kappa, "hopping parameter")->capture_default_str();
  app.add_option("--clover", options.coefficients.clover, "coefficient of the clover term; 0: there is none")
      ->capture_default_str();
  app.add_option("--seed", options.model.seed, "names links and source")->capture_default_str();
  app.add_option("--applications", options.applications, "of the operator, in a round")
      ->capture_default_str();
  app.add_option("--bench", options.rounds, "rounds, of which the median is printed")->capture_default_str();
  app.add_flag("--solve", options.solves, "solve for random sources, instead of applying only");
  app.add_option("--tolerance", options.tolerance,
                 "of the residual; else 1e-7 for single, 1e-14 for double precision");
  app.add_option("--delta", options.delta,
                 "fall of the residual before a reliable update; else as the paper");
  app.add_option("--iterations", options.iterations, "of the solver, at most")->capture_default_str();
  example::add_choice(app, "--solver", options.method, method_names,
                      "BiCGstab, or conjugate gradients on the normal equations, which are slower and safer");
  app.add_flag("--one-by-one", options.one_by_one,
               "solve for right-hand sides one after the other, not as a batch");
  app.add_option("--break-down-at", options.failures,
                 "iterations that count as broken down, to see what follows: one, or several with commas")
      ->delimiter(',');
  example::add_choice(app, "--reduction", options.reduction, reduction_names,
                      "sums over ranks: of each rank's, or in order of slices, the same bits for any ranks");
  example::add_choice(app, "--scaling", options.scaling, scaling_names,
                      "run on 1, 2, 4, … of the ranks: with --lattice for each rank, or for all");
  app.add_flag("--verify", options.verify, "check the operator, or the solver, against theory and a host");
  app.add_flag("--json", options.json, "print the result as one JSON object");
}

}  // namespace

std::vector<Policy> Options::policies() const {
  return all_policies ? std::vector{Policy::none,        Policy::one_stream, Policy::streams,
                                    Policy::streams_two, Policy::fused_pack, Policy::direct}
                      : std::vector{transfer.policy};
}

std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count, int& exit_code) {
  Options options;
  std::string lattice = "8,8,8,16";
  std::string policy = "streams";
  CLI::App app{"Wilson's lattice Dirac operator and a mixed-precision solver, time slices over the ranks",
               "dslash"};
  bool shows_policies = false;
  add_options(app, options, lattice, policy, shows_policies);
  const std::optional<int> end = example::ends_at_once(app, argc, argv, rank, [&]() -> std::string {
    const std::optional<Lattice> extents = parse_lattice(lattice);
    if (!extents) {
      return "--lattice: expected X,Y,Z,T, got " + lattice;
    }
    options.model.lattice = *extents;
    if (!options.gauge_path.empty()) {
      const std::string of_file = take_gauge_file(options, app.count("--lattice") > 0);
      if (!of_file.empty()) {
        return of_file;
      }
    }
    options.all_policies = policy == "all";
    options.tunes = policy == "tuned";
    if (!options.all_policies && !options.tunes) {
      options.transfer.policy = policy_names.at(policy);
    }
    return complaint(options, rank_count);
  });
  if (end || shows_policies) {
    exit_code = end.value_or(0);
    if (!end && rank == 0) {
      std::fputs((policies_table + table_of_tuning_file(options.tuning_path)).c_str(), stdout);
    }
    return std::nullopt;
  }
  return options;
}

}  // namespace dslash
