// Command line of the particles' example. Knows no GPU and no MPI.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace particles {

enum class Shape { box, tube, tree };

/// The force between two particles.
enum class PairForce { soft, lennard_jones, lennard_jones_force_shifted };

/// Dissipative particle dynamics' friction, and the temperature that it keeps.
struct Dpd {
  double friction = 0;
  double temperature = 0;
};

/// To whom a particle of a frontier cell is sent.
enum class Send {
  selective,             ///< to ranks that have a voxel within the cutoff of its voxel
  all_to_all_neighbours  ///< to every neighbour
};

/// How messages go to neighbours.
enum class Exchange {
  device,          ///< a message each, MPI is given device pointers
  neighbour,       ///< one collective over the graph of neighbours, of device pointers
  staged_by_hand,  ///< a message each, copied to host memory and from it
};

/// How it is known how long a message will be.
enum class Counts {
  ahead,  ///< its length is sent before it
  with,   ///< there is room for the longest, and the length comes with the message
  probe   ///< a message is looked for, and received when its length is known
};

struct Options {
  Shape shape = Shape::box;
  std::array<double, 3> size{12, 12,
                             12};  ///< of the box; a tube's, or a tree's first vessel's, length is the first
  std::array<double, 2> radii{4, 4};  ///< of a tube, at its ends
  int depth = 2;                      ///< of a tree: how often vessels branch
  std::string geometry;               ///< a file with a vessel's capsules, or nothing
  bool bounces_back = false;
  PairForce pair = PairForce::soft;
  double density = 3;
  double repulsion = 25;
  std::optional<Dpd> dpd;
  std::array<double, 3> body_force{};  ///< on each particle, whose mass is 1
  double temperature = 1;
  double time_step = 0.01;
  std::int64_t steps = 100;
  std::uint64_t seed = 1;
  std::uint32_t voxels_per_cutoff = 2;
  std::string partition = "slabs";
  std::int64_t rebalance_every = 0;  ///< so many steps; 0: never
  std::string write_partition;       ///< a file, or nothing
  std::string ply;                   ///< a file for the pieces, or nothing
  std::string xyz;                   ///< one for the particles at the end, or nothing
  int pieces = 1;                    ///< the number of ranks, or --ranks-as
  bool dry_run = false;
  Send send = Send::selective;
  Exchange exchange = Exchange::device;
  Counts counts = Counts::with;
  bool overlap = true;
  double room = 1.5;  ///< times what is to be expected
  int rounds = 1;
  std::int64_t energy_every = 0;  ///< so many steps; 0: at the start and at the end alone
  bool verify = false;
  bool json = false;

  /// Whether the domain is a vessel with a wall, and not a periodic box.
  [[nodiscard]] bool has_vessel() const { return shape != Shape::box || !geometry.empty(); }
};

[[nodiscard]] std::string name_of(Shape shape);
[[nodiscard]] std::string name_of(PairForce pair);
[[nodiscard]] std::string name_of(Send send);
[[nodiscard]] std::string name_of(Exchange exchange);
[[nodiscard]] std::string name_of(Counts counts);

/// Empty when the program should end at once: `exit_code` is then 0 (help was asked for) or 2 (bad
/// arguments), and rank 0 has printed why.
[[nodiscard]] std::optional<Options> read_options(int argc, char** argv, int rank, int rank_count,
                                                  int& exit_code);

}  // namespace particles
