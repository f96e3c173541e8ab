// The spin glass over all ranks of a communicator: the sweep that overlaps the exchange of boundary planes
// with the update of the bulk. Every buffer that it gives to MPI is device memory, unless exchanges are
// staged by hand.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "examples/ising/kernels.hpp"
#include "examples/ising/options.hpp"
#include "examples/support/exchange.hpp"

namespace ising {

struct Observables {
  double energy_per_spin = 0;
  double magnetisation_per_spin = 0;
  std::uint64_t hash = 0;  ///< of every spin and its place
};

class Simulation {
 public:
  /// Takes the random start and fills the halos. The communicator must outlive it; its device is the current
  /// one.
  Simulation(const Options& options, MPI_Comm communicator);

  /// What it will allocate on the GPU of that rank.
  [[nodiscard]] static std::int64_t device_bytes(const Options& options, int rank, int rank_count);

  /// One update of every spin. The bulk may still be running when it returns.
  void sweep();
  void synchronize() const;

  /// Collective. The result is valid on rank 0.
  [[nodiscard]] Observables measure();
  /// Collective. On rank 0: every spin (0 or 1), x fastest, then y, then z.
  [[nodiscard]] std::vector<std::uint8_t> gather_spins();

 private:
  void exchange(int colour);
  [[nodiscard]] std::uint32_t* plane(int colour, int plane) const;

  Options options_;
  MPI_Comm communicator_;
  int rank_ = 0;
  int rank_count_ = 1;
  Slab slab_;
  Metropolis metropolis_;
  std::uint32_t sweeps_done_ = 0;

  example::DeviceArray<std::uint32_t> spins_even_;
  example::DeviceArray<std::uint32_t> spins_odd_;
  example::DeviceArray<std::uint32_t> couplings_even_;
  example::DeviceArray<std::uint32_t> couplings_odd_;
  example::DeviceArray<Tally> tallies_;
  GlassView glass_;

  example::Stream boundary_{example::Priority::urgent};
  example::Stream bulk_{example::Priority::normal};
  example::Event bulk_done_;
  example::Exchanger exchanger_;
};

}  // namespace ising
