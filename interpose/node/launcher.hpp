// Identifies the job. The ranks of a job on one node have one launcher process in common; this finds it and
// derives a name that only this job has. Other users cannot guess the name if the launcher is the user's own
// process (mpiexec, orted). If it is root's (Slurm's slurmstepd), nothing about it is secret. Makes no MPI
// call, as it runs before MPI_Init.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::interpose {

struct JobIdentity {
  std::uint64_t key[2] = {0, 0};  ///< equal for all ranks of the job on this node
  int environment_rank = -1;  ///< rank in MPI_COMM_WORLD according to the launcher's environment; -1: unknown
};

/// Returns true if, by the environment, a launcher has started this process or an ancestor of it as a rank.
[[nodiscard]] bool is_started_as_rank() noexcept;

/// The launcher is the nearest ancestor whose own environment does not make it a rank. The key hashes what
/// the kernel shows of the launcher only to its own user (start time, addresses in its auxiliary vector).
/// Ranks with another `node` get another key, as if they were on another node.
[[nodiscard]] JobIdentity identify_job(std::string_view node = {}) noexcept;

}  // namespace penstock::interpose
