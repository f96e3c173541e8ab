// Finds the recordings that belong together. One directory may hold files of several runs; the newest job is
// taken. Reads headers only, but for older recordings that lack records.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "analysis/recording/flaw.hpp"
#include "analysis/recording/recorded_part.hpp"

namespace penstock::analysis {

struct Job {
  std::vector<std::filesystem::path> files;  ///< one per rank, in rank order
  std::vector<KnownTime> known;      ///< for each file the time in which all ranks are, in its host's clock
  std::vector<KnownTime> own_known;  ///< and in which its own rank is
  std::int32_t world_size = 0;
  std::vector<Flaw> flaws;  ///< files that were left out, ranks that are missing

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(files, known, own_known, world_size, flaws);
  }
};

/// `path`: a directory of `rank-*.penstock`, or one such file. Errors: TraceError if there is no usable
/// recording.
[[nodiscard]] Job find_job(const std::filesystem::path& path);

}  // namespace penstock::analysis
