// Finds out what a run is a run of, for those who compare recordings later: the program's git commit, the
// batch system's job, the GPU driver. Only reads files and the environment, and starts no program. Must not
// know the recording.
#pragma once

#include <filesystem>
#include <string>

namespace penstock::record {

/// Returns the commit that a continuous integration system names in the environment, else the one that is
/// checked out in the git work tree in which the program lies; empty if there is neither. Whether files were
/// changed since is not known.
[[nodiscard]] std::string commit_of_program();

/// Returns the commit that is checked out in the work tree around `folder`; empty if there is none.
[[nodiscard]] std::string commit_of_work_tree(std::filesystem::path folder);

/// Returns the number that Slurm, PBS, LSF or Flux gave to the job; empty: none did.
[[nodiscard]] std::string batch_job();

/// Returns the version of NVIDIA's kernel module, "580.65.06"; empty if it is not loaded.
[[nodiscard]] std::string driver_version();

/// Returns the version in a line of /proc/driver/nvidia/version; empty if it has none.
[[nodiscard]] std::string version_in(const std::string& line);

}  // namespace penstock::record
