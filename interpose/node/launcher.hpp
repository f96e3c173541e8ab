// Which job is this? The ranks of a job on one node have one launcher process in common; this finds it and
// makes of it a name that is the job's alone. Other users cannot guess it where the launcher is the user's
// own process (mpiexec, orted); of root's (Slurm's slurmstepd) nothing is secret. Knows no MPI call (it is
// asked before MPI_Init).
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::interpose {

struct JobIdentity {
  std::uint64_t key[2] = {0, 0};  ///< equal for all ranks of the job on this node
  int environment_rank = -1;      ///< rank in MPI_COMM_WORLD as the launcher's environment says; -1 unknown
};

/// Does the environment say that a launcher has started this process as a rank, or an ancestor of it?
[[nodiscard]] bool is_started_as_rank() noexcept;

/// The launcher is the nearest ancestor whose own environment does not make it a rank. The key hashes what
/// the kernel shows of it to its own user only (start time, addresses in its auxiliary vector). Ranks that
/// name another `node` get another key, as if they were on different ones.
[[nodiscard]] JobIdentity identify_job(std::string_view node = {}) noexcept;

}  // namespace penstock::interpose
