// Steps of all particles on the ranks of a communicator. Every buffer that it gives to MPI is device memory,
// unless exchanges are staged by hand.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "examples/particles/device_memory.hpp"
#include "examples/particles/domain.hpp"
#include "examples/particles/exchange.hpp"
#include "examples/particles/observe_kernels.hpp"
#include "examples/particles/options.hpp"
#include "examples/particles/partition.hpp"
#include "examples/particles/step_kernels.hpp"
#include "examples/particles/travel_kernels.hpp"

namespace particles {

/// How far a particle may go in a step: to the next voxel, however positions are rounded.
constexpr double voxels_a_step = 0.999;

/// A particle at the time of its position.
struct Particle {
  Place place;
  Motion motion;  ///< half a step before
  Force force;
};

/// What has been so far.
struct History {
  std::int64_t steps = 0;
  std::int64_t checked_steps = 0;
  std::int64_t put_back = 0;
  std::int64_t migrated = 0;
  std::int64_t sent_records = 0;  ///< by simulations before
  /// Of the kernel that packs, if there are rounds to be measured.
  double pack_s = 0;
  std::int64_t packed_bytes = 0;
};

class Simulation {
 public:
  /// Finds the rank's cells, and makes room for as many particles as there are in each voxel, if that is
  /// known. Collective; the communicator must outlive it.
  Simulation(const Options& options, const Domain& domain, const Owners& owners, MPI_Comm communicator,
             const std::vector<std::uint8_t>& counts = {});

  /// Why it cannot run, the same on all ranks, or nothing. Collective.
  [[nodiscard]] std::string complaint() const;
  /// What prepare() will allocate.
  [[nodiscard]] std::int64_t device_bytes() const;
  /// Allocates, and puts particles where they start.
  void prepare();
  /// Allocates, and goes on with particles of another simulation, some of which is this rank's past.
  void prepare(const Travellers& travellers, const History& past);

  /// For each voxel of the box how many of this rank's particles are in it.
  [[nodiscard]] std::vector<std::uint32_t> count_in_voxels();
  /// This rank's particles, sorted by who owns their voxels.
  [[nodiscard]] Travellers pack_up(const Owners& owners, int rank_count);
  [[nodiscard]] const History& history() const { return history_; }

  /// Forces of deep cells may still be under way when it returns.
  void step();
  [[nodiscard]] std::int64_t steps() const { return history_.steps; }

  /// What has gone wrong, the same on all ranks, or nothing. Collective; to be asked every
  /// `steps_between_checks` at least.
  [[nodiscard]] std::string trouble();
  static constexpr std::int64_t steps_between_checks = 100;

  /// How many there are, and who and where they are: cheap. Collective.
  [[nodiscard]] Totals count();
  /// All sums. Collective.
  [[nodiscard]] Totals observe();
  /// All of them, in any order, on rank 0. Collective.
  [[nodiscard]] std::vector<Particle> gather();

  /// So far, by this rank.
  [[nodiscard]] std::int64_t sent_records() const { return history_.sent_records + exchange_.sent_records(); }
  /// Particles that had left through a wall by rounding, and that have become this rank's, up to the last
  /// trouble().
  [[nodiscard]] std::int64_t put_back() const { return history_.put_back; }
  [[nodiscard]] std::int64_t migrated() const { return history_.migrated; }

 private:
  void allocate();
  void bin();
  void pack();
  void note_packed();
  void exchange();
  void merge();
  void sort_all();
  void advance_deep();
  void advance_others();
  void synchronize() const;
  void set_mover();
  void clear_status();
  [[nodiscard]] std::string too_near_text(const Status& own, std::uint64_t first);
  [[nodiscard]] std::string too_fast_text(std::uint64_t too_fast) const;
  void halt(const std::string& why);
  void sum_over_ranks(Totals& totals);
  void clear_totals();

  Options options_;
  MPI_Comm communicator_;
  int rank_;
  const Domain& domain_;
  Start start_;
  Tiling tiling_;
  NeighbourExchange exchange_;
  Rooms rooms_;
  std::optional<DeviceTiling> device_tiling_;
  std::optional<ParticleMemory> memory_;
  Model model_;
  Packing packing_;
  Mover mover_;
  Sums sums_;
  example::Stream boundary_{example::Priority::urgent};
  example::Stream bulk_{example::Priority::normal};
  example::Event bulk_done_;
  std::optional<example::Stopwatch> packing_watch_;  ///< if rounds are to be measured
  example::PinnedArray<Status> status_{1};
  example::DeviceArray<Totals> totals_{1};
  std::uint32_t mover_count_ = 0;  ///< indices of movers that may be in use
  History history_;
  std::string halted_;  ///< why this rank goes on without particles, or nothing
};

}  // namespace particles
