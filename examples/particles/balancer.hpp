// Partitions a running simulation again, by where its particles are. Buffers that it gives to MPI for
// particles are device memory, unless exchanges are staged by hand.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "examples/particles/result.hpp"
#include "examples/particles/simulation.hpp"

namespace particles {

class Balancer {
 public:
  /// `fluid` is the domain's, `owners` are those of the simulation. Collective, as the others.
  Balancer(const Options& options, const Domain& domain, const std::vector<std::uint8_t>& fluid,
           Owners owners, MPI_Comm communicator);

  /// Makes another simulation of one that is in no trouble, if a rank has fewer particles so. What is wrong,
  /// the same on all ranks, or nothing.
  [[nodiscard]] std::string rebalance(std::unique_ptr<Simulation>& simulation);

  [[nodiscard]] const Owners& owners() const { return owners_; }
  [[nodiscard]] const std::vector<Rebalancing>& done() const { return done_; }

 private:
  [[nodiscard]] std::vector<std::uint32_t> count(Simulation& simulation) const;
  [[nodiscard]] std::string move(std::unique_ptr<Simulation>& simulation, Owners owners,
                                 const std::vector<std::uint32_t>& counts);
  [[nodiscard]] Travellers travel(const Travellers& out) const;

  Options options_;  ///< of the partition to make
  const Domain& domain_;
  const std::vector<std::uint8_t>& fluid_;
  Owners owners_;
  MPI_Comm communicator_;
  int rank_count_ = 1;
  std::vector<Rebalancing> done_;
};

}  // namespace particles
