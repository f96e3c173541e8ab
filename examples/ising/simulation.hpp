// The sweep over all ranks of a communicator that overlaps the exchange of boundary planes with the update of
// the bulk. Every buffer that it gives to MPI is device memory, unless exchanges are staged by hand. Knows
// not how spins are stored.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "examples/ising/glass.hpp"
#include "examples/ising/options.hpp"
#include "examples/support/exchanger.hpp"

namespace ising {

struct Observables {
  double energy_per_spin = 0;
  double magnetisation_per_spin = 0;
  std::uint64_t hash = 0;  ///< of every spin and its place
};

class Simulation {
 public:
  /// Takes the start and fills the halos. The communicator must outlive it; its device is the current one.
  Simulation(const Options& options, MPI_Comm communicator);

  /// What it will allocate on the GPU of that rank.
  [[nodiscard]] static std::int64_t device_bytes(const Options& options, RankOf rank);

  /// One update of every spin. The bulk may still be running when it returns.
  void sweep();
  void synchronize() const;

  /// Collective. The result is valid on rank 0.
  [[nodiscard]] Observables measure();
  /// Collective, for replicas. On rank 0: the mean of q² over pairs of replicas, where the overlap q is the
  /// mean over all sites of the product of their spins: the order parameter of a glass.
  [[nodiscard]] double mean_square_overlap();
  /// Collective. On rank 0: a word for every site, with a bit for each replica; x fastest, then y, then z.
  [[nodiscard]] std::vector<std::uint32_t> gather_spins();

 private:
  void exchange(int phase);

  Options options_;
  RankOf rank_;
  std::uint32_t sweeps_done_ = 0;
  std::unique_ptr<Glass> glass_;
  example::DeviceArray<Tally> tallies_;
  example::DeviceArray<unsigned long long> different_;
  example::Stream boundary_{example::Priority::urgent};
  example::Stream bulk_{example::Priority::normal};
  example::Event bulk_done_;
  example::Exchanger exchanger_;
};

}  // namespace ising
