#include "examples/particles/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <span>
#include <string_view>

#include "examples/support/command_line.hpp"

namespace particles {
namespace {

const std::map<std::string, Shape> shape_names{
    {"box", Shape::box}, {"tube", Shape::tube}, {"tree", Shape::tree}};
const std::map<std::string, PairForce> pair_names{
    {"soft", PairForce::soft},
    {"lj", PairForce::lennard_jones},
    {"lj-force-shifted", PairForce::lennard_jones_force_shifted}};
const std::map<std::string, Send> send_names{{"selective", Send::selective},
                                             {"all-to-all-neighbours", Send::all_to_all_neighbours}};

const std::map<std::string, Exchange> exchange_names{{"device", Exchange::device},
                                                     {"neighbour", Exchange::neighbour},
                                                     {"staged-by-hand", Exchange::staged_by_hand}};
const std::map<std::string, Counts> counts_names{
    {"ahead", Counts::ahead}, {"with", Counts::with}, {"probe", Counts::probe}};

/// Reads numbers with `separator` between them.
bool parse_all_numbers(std::string_view text, char separator, std::span<double> numbers) {
  const char* next = text.data();
  const char* const end = next + text.size();
  for (double& number : numbers) {
    const auto [rest, error] = std::from_chars(next, end, number);
    const bool is_last = &number == &numbers.back();
    if (error != std::errc{} || (is_last ? rest != end : rest == end || *rest != separator)) {
      return false;
    }
    next = is_last ? rest : rest + 1;
  }
  return true;
}

/// … or one alone, which stands for all.
bool parse_numbers(std::string_view text, char separator, std::span<double> numbers) {
  const char* next = text.data();
  const char* const end = next + text.size();
  for (std::size_t index = 0; index < numbers.size(); ++index) {
    const auto [rest, error] = std::from_chars(next, end, numbers[index]);
    if (error != std::errc{}) {
      return false;
    }
    if (rest == end && (index == 0 || index + 1 == numbers.size())) {
      for (double& other : numbers.subspan(index)) {
        other = numbers[index];
      }
      return true;
    }
    if (rest == end || *rest != separator) {
      return false;
    }
    next = rest + 1;
  }
  return false;
}

/// What is wrong with the options, or nothing.
std::string complaint(const Options& options, int rank_count) {
  if (options.pieces != rank_count && !options.dry_run) {
    return "--ranks-as: only with --dry-run";
  }
  if (options.dry_run && !options.xyz.empty()) {
    return "--xyz: not with --dry-run";
  }
  for (const double side : options.size) {
    if (!options.has_vessel() && !(side >= 3 && side <= 1e5)) {
      return "--size: a periodic box has 3 cutoffs along each side at least, and 100000 at most";
    }
  }
  const bool makes_vessel = options.has_vessel() && options.geometry.empty();
  if (makes_vessel && !(options.size[0] > 0 && options.size[0] <= 1e5)) {
    return "--size: the length of a vessel is positive, and 100000 at most";
  }
  if (makes_vessel && !(std::max(options.radii[0], options.radii[1]) <= 1e4)) {
    return "--radius: the radius of a vessel is 10000 at most";
  }
  if (options.dpd && !(options.dpd->friction >= 0 && options.dpd->friction <= 1e4)) {
    return "--dpd: friction is 0 to 10000";
  }
  if (options.dpd && !(options.dpd->temperature >= 0 && options.dpd->temperature <= 1e6)) {
    return "--dpd: the temperature is 0 to 1000000";
  }
  for (const double force : options.body_force) {
    if (!(std::abs(force) <= 1e6)) {
      return "--body-force: each part is 1000000 at most";
    }
  }
  return {};
}

/// What is usual, where nothing else was asked for. `is_given` says what was.
template <typename IsGiven>
void take_usual_of_lennard_jones(Options& options, IsGiven&& is_given) {
  if (!is_given("--density")) {
    options.density = 13.125;
  }
  if (!is_given("--temperature")) {
    options.temperature = 1.44;
  }
  if (!is_given("--time-step")) {
    options.time_step = 0.002;  // 0.005 of the diameter
  }
}

}  // namespace

std::string name_of(Shape shape) {
  return example::name_of_choice(shape_names, shape);
}

std::string name_of(PairForce pair) {
  return example::name_of_choice(pair_names, pair);
}

std::string name_of(Send send) {
  return example::name_of_choice(send_names, send);
}

std::string name_of(Exchange exchange) {
  return example::name_of_choice(exchange_names, exchange);
}

std::string name_of(Counts counts) {
  return example::name_of_choice(counts_names, counts);
}

std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count, int& exit_code) {
  Options options;
  options.pieces = rank_count;
  std::string size = "12";
  std::string radii = "4";
  std::string dpd;
  std::string body_force;
  bool no_overlap = false;
  CLI::App app{"Particles in a box or a vessel, in pieces of any form. The unit of length is the cutoff",
               "particles"};
  example::add_choice(app, "--domain", options.shape, shape_names, "a periodic box, or a vessel with a wall");
  app.add_option("--size", size,
                 "sides of the box, as 16x16x32, or the length of the tube or of the tree's first vessel")
      ->capture_default_str();
  app.add_option("--radius", radii, "of the tube, or of its two ends, as 4,3, or of the tree's first vessel")
      ->capture_default_str();
  app.add_option("--depth", options.depth, "how often the vessels of a tree branch")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  app.add_option("--geometry", options.geometry,
                 "a JSON file with the capsules of a vessel, instead of --domain");
  app.add_flag("--bounce-back", options.bounces_back,
               "at the wall velocities are turned round, not reflected");
  example::add_choice(app, "--model", options.pair, pair_names,
                      "the force between particles: soft repulsion, or Lennard-Jones of cutoff 2.5 "
                      "diameters, whose force jumps there or is shifted to zero");
  app.add_option(
         "--density", options.density,
         "particles in a cube of the cutoff; with Lennard-Jones 13.125, or 0.84 in one of the diameter")
      ->check(CLI::Range(0.01, 128.0))
      ->capture_default_str();
  app.add_option("--dpd", dpd, "friction and the temperature that it keeps, as 4.5,1, besides the repulsion");
  app.add_option("--body-force", body_force, "on each particle, as 0.1,0,0");
  app.add_option("--repulsion", options.repulsion, "force between two particles at one place")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--temperature", options.temperature, "at the start; with Lennard-Jones 1.44")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--time-step", options.time_step,
                 "in cutoffs over the root of temperature 1 over mass; with Lennard-Jones 0.002")
      ->check(CLI::Range(1e-9, 1e9))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "steps, in each round")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "names the start, and a random partition")->capture_default_str();
  app.add_option("--voxels-per-cutoff", options.voxels_per_cutoff, "along a side of a cell")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  app.add_option("--partition", options.partition, "slabs, scotch, metis, random, or a file of owners")
      ->capture_default_str();
  app.add_option("--rebalance-every", options.rebalance_every,
                 "partition again, by where particles are, after so many steps each time")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--write-partition", options.write_partition, "a file for the partition");
  app.add_option("--ply", options.ply, "a file for the surfaces of the pieces, as PLY");
  app.add_option("--xyz", options.xyz, "a file for the particles at the end, as extended XYZ");
  app.add_option("--ranks-as", options.pieces, "partition for so many ranks; with --dry-run")
      ->check(CLI::Range(1, 32000));
  app.add_flag("--dry-run", options.dry_run, "print how the pieces look, and end");
  example::add_choice(app, "--send", options.send, send_names, "to whom particles near others are sent");
  example::add_choice(app, "--exchange", options.exchange, exchange_names,
                      "device pointers straight to MPI, or in one collective, or copies in host memory");
  example::add_choice(
      app, "--counts", options.counts, counts_names,
      "how long a message is: told ahead, or with it where there is room for the longest, or probed");
  app.add_flag("--no-overlap", no_overlap, "forces of internal cells after the exchange, not meanwhile");
  app.add_option("--room", options.room, "room for particles and messages, over what is to be expected")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--bench", options.rounds, "rounds, of which the median counts")->check(CLI::Range(1, 1000));
  app.add_option("--energy-every", options.energy_every,
                 "tell by a line through the energy after so many steps each time how it drifts")
      ->check(CLI::Range(1, 1 << 30));
  app.add_flag("--verify", options.verify, "check forces, particles, momentum, energy, and one rank's bits");
  app.add_flag("--json", options.json, "print the result as one JSON object");

  const std::optional<int> end = example::ends_at_once(app, argc, argv, rank, [&]() -> std::string {
    options.overlap = !no_overlap;
    if (!parse_numbers(size, 'x', options.size)) {
      return "--size: expected a number, or three as 16x16x32, got " + size;
    }
    if (!parse_numbers(radii, ',', options.radii)) {
      return "--radius: expected a number, or two as 4,3, got " + radii;
    }
    const auto is_given = [&](const char* name) { return app.count(name) > 0; };
    if (options.pair != PairForce::soft) {
      take_usual_of_lennard_jones(options, is_given);
      if (is_given("--repulsion")) {
        return "--repulsion: only with --model soft";
      }
      if (is_given("--dpd")) {
        return "--dpd: only with --model soft";
      }
    }
    if (options.exchange == Exchange::neighbour) {
      if (is_given("--counts") && options.counts != Counts::ahead) {
        return "--counts: a collective is told them ahead";
      }
      options.counts = Counts::ahead;
    }
    if (is_given("--dpd")) {
      std::array<double, 2> numbers{};
      if (!parse_all_numbers(dpd, ',', numbers)) {
        return "--dpd: expected friction and temperature as 4.5,1, got " + dpd;
      }
      options.dpd = Dpd{numbers[0], numbers[1]};
    }
    if (is_given("--body-force") && !parse_all_numbers(body_force, ',', options.body_force)) {
      return "--body-force: expected three numbers as 0.1,0,0, got " + body_force;
    }
    return complaint(options, rank_count);
  });
  if (end) {
    exit_code = *end;
    return std::nullopt;
  }
  return options;
}

}  // namespace particles
