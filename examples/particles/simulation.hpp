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

namespace particles {

/// How far a particle may go in a step: to the next voxel, however positions are rounded.
constexpr double voxels_a_step = 0.999;

/// A particle at the time of its position.
struct Particle {
  Place place;
  Motion motion;  ///< half a step before
  Force force;
};

class Simulation {
 public:
  /// Finds the rank's cells. Collective; the communicator must outlive it.
  Simulation(const Options& options, const Domain& domain, const Owners& owners, MPI_Comm communicator);

  /// Why it cannot run, the same on all ranks, or nothing. Collective.
  [[nodiscard]] std::string complaint() const;
  /// What prepare() will allocate.
  [[nodiscard]] std::int64_t device_bytes() const;
  /// Allocates, and puts particles where they start.
  void prepare();

  /// Forces of deep cells may still be under way when it returns.
  void step();
  [[nodiscard]] std::int64_t steps() const { return steps_; }

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
  [[nodiscard]] std::int64_t sent_records() const { return exchange_.sent_records(); }
  /// Particles that had left through a wall by rounding, and that have become this rank's, up to the last
  /// trouble().
  [[nodiscard]] std::int64_t put_back() const { return put_back_; }
  [[nodiscard]] std::int64_t migrated() const { return migrated_; }

 private:
  void bin();
  void exchange();
  void merge();
  void sort_all();
  void advance_deep();
  void advance_others();
  void synchronize() const;
  void set_mover();
  void clear_status();
  [[nodiscard]] std::string too_near_text(const Status& own, std::int64_t& step);
  [[nodiscard]] std::string too_fast_text(const Status& own, std::int64_t& step);
  void halt(const std::string& why);
  void sum_over_ranks(Totals& totals);
  void clear_totals();

  Options options_;
  MPI_Comm communicator_;
  int rank_;
  const Domain& domain_;
  Tiling tiling_;
  Start start_;
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
  example::PinnedArray<Status> status_{1};
  example::DeviceArray<Totals> totals_{1};
  std::uint32_t mover_count_ = 0;  ///< indices of movers that may be in use
  std::int64_t steps_ = 0;
  std::int64_t checked_steps_ = 0;
  std::int64_t put_back_ = 0;
  std::int64_t migrated_ = 0;
  std::string halted_;  ///< why this rank goes on without particles, or nothing
};

}  // namespace particles
