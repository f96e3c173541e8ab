#include "examples/ising/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "examples/ising/bits/sliced.hpp"
#include "examples/support/command_line.hpp"

namespace ising {
namespace {

const std::map<std::string, Couplings> coupling_names{{"glass", Couplings::glass},
                                                      {"ferromagnet", Couplings::ferromagnet},
                                                      {"nishimori", Couplings::nishimori}};

const std::map<std::string, Layout> layout_names{{"checkerboard", Layout::checkerboard},
                                                 {"sliced", Layout::sliced}};

std::optional<Lattice> parse_lattice(std::string_view text) {
  std::vector<int> extents;
  while (extents.size() < 3) {
    int extent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{}) {
      return std::nullopt;
    }
    extents.push_back(extent);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) {
      break;
    }
    if (text.front() != 'x' || extents.size() == 3) {
      return std::nullopt;
    }
    text.remove_prefix(1);
  }
  switch (extents.size()) {
    case 1:
      return Lattice{extents[0], extents[0], extents[0]};
    case 2:
      return Lattice{extents[0], 1, extents[1]};
    case 3:
      return Lattice{extents[0], extents[1], extents[2]};
    default:
      return std::nullopt;
  }
}

bool is_even(int extent) {
  return extent >= 2 && extent % 2 == 0;
}

/// What the layout does not allow, or nothing.
std::string lattice_complaint(const Options& options) {
  const auto [x, y, z] = options.lattice;
  const bool is_flat = options.lattice.dimensions() == 2;
  const std::string got =
      ", got " + std::to_string(x) + (is_flat ? "" : "x" + std::to_string(y)) + "x" + std::to_string(z);
  if (options.layout == Layout::sliced) {
    return bits::Sliced::fits(options.lattice) ? ""
                                               : "the last extent must be at least 2, and the others, also "
                                                 "at least 2, must leave 0 or 2 when "
                                                 "divided by it, as in any cube, for the sliced layout" +
                                                     got;
  }
  if (!is_even(z) || (!is_flat && !is_even(y))) {
    return "all extents must be even for the checkerboard layout" + got;
  }
  if (options.replicas == 1 && (x < 8 || x % 8 != 0)) {
    return "the first extent must be a multiple of 8 for a single replica" + got;
  }
  return is_even(x) ? "" : "all extents must be even for the checkerboard layout" + got;
}

/// Of the rank with most planes, halos included; of one colour where each has an array of its own.
std::int64_t words_of_rank(const Options& options, int rank_count) {
  const auto [x, y, z] = options.lattice;
  const std::int64_t sites = std::int64_t{x} * y * (planes_of_rank(z, 0, rank_count).count + 2);
  return options.replicas == 1 ? sites / 8 : sites;
}

/// What is wrong with the options, or nothing.
std::string complaint(const Options& options, int rank_count) {
  const auto [x, y, z] = options.lattice;
  if (options.layout == Layout::sliced && options.replicas == 1) {
    return "--layout: sliced needs --replicas " + std::to_string(replicas_in_a_word);
  }
  if (x < 1 || y < 1 || z < 1) {
    return "--lattice: all extents must be positive";
  }
  const std::string problem = lattice_complaint(options);
  if (!problem.empty()) {
    return "--lattice: " + problem;
  }
  if (std::int64_t{x} * y > std::int64_t{1} << 30) {
    return "--lattice: a plane of x × y may have 2^30 sites at most";
  }
  if (z < rank_count) {
    return "--lattice: " + std::to_string(z) + " planes are too few for " + std::to_string(rank_count) +
           " ranks";
  }
  constexpr std::int64_t most_words = INT32_MAX;  // kernels count them with 32-bit numbers
  if (words_of_rank(options, rank_count) > most_words) {
    return std::string("--lattice: a rank may have ") + (options.replicas == 1 ? "2^34" : "2^31") +
           " sites at most, halos included; take more ranks";
  }
  if (options.measurements < 1 || options.measurements > std::max(options.sweeps, 1u)) {
    return "--measurements: from 1 to the number of sweeps";
  }
  if (!(options.temperature >= 0) || std::isinf(options.temperature)) {
    return "--temperature: must be a number that is not negative";
  }
  return {};
}

}  // namespace

std::string name_of(Couplings couplings) {
  return example::name_of_choice(coupling_names, couplings);
}

std::string name_of(Layout layout) {
  return example::name_of_choice(layout_names, layout);
}

std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count, int& exit_code) {
  Options options;
  std::string lattice = "64";
  CLI::App app{"Ising spin glass and ferromagnet (Metropolis), in slabs over the ranks", "ising"};
  app.add_option("--lattice", lattice, "number of spins along each axis: N (a cube), XxY or XxYxZ")
      ->capture_default_str();
  app.add_option("--replicas", options.replicas,
                 "1, a byte a spin; or 32 that share their couplings, a bit a spin")
      ->check(CLI::IsMember({1, replicas_in_a_word}))
      ->capture_default_str();
  example::add_choice(app, "--layout", options.layout, layout_names,
                      "of replicas: by colour, or in slices of one colour, which halves the messages");
  example::add_choice(app, "--couplings", options.couplings, coupling_names,
                      "±1 at random; 1; or mostly 1, by temperature, with an equilibrium state as start");
  app.add_option("--sweeps", options.sweeps, "updates of each spin")->capture_default_str();
  app.add_option("--measurements", options.measurements,
                 "so many of the last sweeps are followed by a measurement of the energy, for its mean")
      ->capture_default_str();
  app.add_option("--temperature", options.temperature, "in units of |J|")->capture_default_str();
  app.add_option("--seed", options.seed, "names the couplings, the start and the random numbers")
      ->capture_default_str();
  example::add_exchange(app, options.exchange);
  app.add_flag(
      "--verify", options.verify,
      "compare every spin with a serial host computation, and the energy with theory where there is one");
  app.add_flag("--json", options.json, "print the result as one JSON object");

  const std::optional<int> end = example::ends_at_once(app, argc, argv, rank, [&]() -> std::string {
    const std::optional<Lattice> extents = parse_lattice(lattice);
    if (!extents) {
      return "--lattice: expected N, XxY or XxYxZ, got " + lattice;
    }
    options.lattice = *extents;
    return complaint(options, rank_count);
  });
  if (end) {
    exit_code = *end;
    return std::nullopt;
  }
  return options;
}

}  // namespace ising
