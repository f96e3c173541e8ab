#include "examples/particles/options.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <string_view>

#include "examples/support/command_line.hpp"

namespace particles {
namespace {

const std::map<std::string, Shape> shape_names{
    {"box", Shape::box}, {"tube", Shape::tube}, {"tree", Shape::tree}};
const std::map<std::string, Send> send_names{{"selective", Send::selective},
                                             {"all-to-all-neighbours", Send::all_to_all_neighbours}};

/// Reads numbers with `separator` between them. One alone stands for all.
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
  return {};
}

}  // namespace

std::string name_of(Shape shape) {
  return example::name_of_choice(shape_names, shape);
}

std::string name_of(Send send) {
  return example::name_of_choice(send_names, send);
}

std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count, int& exit_code) {
  Options options;
  options.pieces = rank_count;
  std::string size = "12";
  std::string radii = "4";
  bool no_overlap = false;
  CLI::App app{"Soft particles in a box or a vessel, in pieces of any form. The unit of length is the cutoff",
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
  app.add_option("--density", options.density, "particles in a cube of the cutoff")
      ->check(CLI::Range(0.01, 64.0))
      ->capture_default_str();
  app.add_option("--repulsion", options.repulsion, "force between two particles at one place")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--temperature", options.temperature, "at the start")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_option("--time-step", options.time_step, "in cutoffs over the root of mass over temperature 1")
      ->check(CLI::Range(1e-9, 1e9))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "steps, in each round")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "names the start, and a random partition")->capture_default_str();
  app.add_option("--voxels-per-cutoff", options.voxels_per_cutoff, "along a side of a cell")
      ->check(CLI::Range(1, 4))
      ->capture_default_str();
  app.add_option("--partition", options.partition, "slabs, scotch, random, or a file of owners")
      ->capture_default_str();
  app.add_option("--write-partition", options.write_partition, "a file for the partition");
  app.add_option("--ranks-as", options.pieces, "partition for so many ranks; with --dry-run")
      ->check(CLI::Range(1, 32000));
  app.add_flag("--dry-run", options.dry_run, "print how the pieces look, and end");
  example::add_choice(app, "--send", options.send, send_names, "to whom particles near others are sent");
  example::add_exchange(app, options.exchange);
  app.add_flag("--no-overlap", no_overlap, "forces of internal cells after the exchange, not meanwhile");
  app.add_option("--room", options.room, "room for particles and messages, over what is to be expected")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  app.add_option("--bench", options.rounds, "rounds, of which the median counts")->check(CLI::Range(1, 1000));
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
    return complaint(options, rank_count);
  });
  if (end) {
    exit_code = *end;
    return std::nullopt;
  }
  return options;
}

}  // namespace particles
