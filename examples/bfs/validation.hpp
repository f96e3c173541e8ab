// Whether a tree is a breadth-first search's, by the five rules of the Graph500 benchmark and the input's
// edges, which are generated once more. Knows the generator and who owns which vertices, and nothing of how
// the graph is stored or searched.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "examples/bfs/kronecker.hpp"
#include "examples/bfs/partition.hpp"
#include "examples/bfs/validation_kernels.hpp"
#include "examples/support/exchanger.hpp"

namespace bfs {

class Validator {
 public:
  /// Collective. The communicator must outlive it.
  Validator(const Kronecker& kronecker, const Partition& partition, example::Exchange exchange,
            MPI_Comm communicator);

  /// Device memory that it allocates.
  [[nodiscard]] static std::int64_t device_bytes(const Partition& partition);

  /// How often each rule is broken, rule 1 first. Of own vertices, in device memory: parents and levels.
  /// Collective, the same on all ranks.
  [[nodiscard]] std::array<std::int64_t, rule_count> violations(std::int64_t root, std::int64_t* parents,
                                                                Level* levels);

 private:
  void gather(std::int64_t* parents, Level* levels);

  Kronecker kronecker_;
  Partition partition_;
  example::Exchanger exchanger_;
  example::Stream stream_{example::Priority::normal};
  example::DeviceArray<std::int64_t> parents_;  ///< of all vertices
  example::DeviceArray<Level> levels_;
  example::DeviceArray<std::uint32_t> confirmed_;  ///< own vertices whose edge to the parent exists
  example::DeviceArray<Violations> violations_{1};
};

}  // namespace bfs
