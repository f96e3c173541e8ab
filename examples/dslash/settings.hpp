// What can be chosen of an operator, beyond its lattice. Knows no GPU and no MPI.
#pragma once

#include "examples/support/exchange.hpp"

namespace dslash {

/// How faces travel, and what is computed meanwhile.
enum class Policy {
  none,         ///< pack, exchange, then one kernel for all slices
  one_stream,   ///< pack, then the interior while messages travel, then both outer slices: in that order
  streams,      ///< the interior meanwhile, on a stream of its own; then one kernel for both outer slices
  streams_two,  ///< as streams, but a kernel for each outer slice, as soon as its face has come
  fused_pack,   ///< as streams, but the interior's kernel packs first and tells the host by a flag
  direct        ///< kernels store faces into the neighbours' memory and wait for flags: no MPI in the loop
};

/// How often MPI is told of a message's buffer.
enum class MpiRequests {
  each_time,  ///< MPI_Irecv and MPI_Isend
  persistent  ///< requests are made once and started again
};

/// A stage that can be left out, to learn what it costs. Results are wrong then.
enum class Stage { nothing, pack, interior, exterior, copy, comms };

/// How sums over all ranks are taken.
enum class Reduction {
  allreduce,  ///< of each rank's sum
  by_slice  ///< sums of each slice's blocks of planes go to all ranks, which add them in order: the same bits
            ///< for any ranks
};

enum class Method {
  bicgstab,  ///< goes on by conjugate gradients where it has broken down twice
  gradients  ///< conjugate gradients on the normal equations
};

struct Coefficients {
  double anisotropy = 1;
  bool is_antiperiodic = true;
  double kappa = 0.115;
  double clover = 0;  ///< of the clover term; 0: there is none

  [[nodiscard]] bool has_clover() const { return clover != 0; }
};

struct Transfer {
  Policy policy = Policy::streams;
  example::Exchange exchange = example::Exchange::device;
  Stage without = Stage::nothing;
  MpiRequests requests = MpiRequests::each_time;

  /// The same by another policy.
  [[nodiscard]] Transfer by(Policy other) const {
    Transfer transfer = *this;
    transfer.policy = other;
    return transfer;
  }
};

}  // namespace dslash
