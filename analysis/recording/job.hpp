// Finds the recordings that belong together. One directory may hold files of several runs; the newest job is
// taken. Reads headers only, but for older recordings that lack records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "analysis/recording/flaw.hpp"

namespace penstock::analysis {

struct Job {
  std::vector<std::filesystem::path> files;  ///< one per rank, in rank order
  /// For each file the moment up to which all ranks are known, in the clock of its host, and the moment up to
  /// which its own is; trace::nothing_missing.
  std::vector<std::uint64_t> known_until_ns;
  std::vector<std::uint64_t> own_known_until_ns;
  std::int32_t world_size = 0;
  std::vector<Flaw> flaws;  ///< files that were left out, ranks that are missing

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(files, known_until_ns, own_known_until_ns, world_size, flaws);
  }
};

/// `path`: a directory of `rank-*.penstock`, or one such file. Errors: TraceError if there is no usable
/// recording.
[[nodiscard]] Job find_job(const std::filesystem::path& path);

}  // namespace penstock::analysis
