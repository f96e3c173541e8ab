// Exports a recording to a file of another format. Decides what is read in which order; must not know the
// formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/naming/skipped_frames.hpp"
#include "analysis/recording/flaw.hpp"
#include "analysis/sharing/progress.hpp"

namespace penstock::analysis::exports {

enum class Format : std::uint8_t { perfetto, otf2, csv };

struct Request {
  std::filesystem::path recording;
  Format format = Format::perfetto;
  std::filesystem::path to;  ///< a file for Perfetto, else a directory
  bool replace = false;      ///< an earlier export at that path
  SkipPatterns skip = {};    ///< frames of call paths that are not shown as call sites
};

struct Outcome {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;         ///< written
  std::vector<Flaw> flaws;         ///< of the recording; the readable part was exported
  std::vector<std::string> notes;  ///< for the user, a line each
};

/// Exports a recording. Reads each rank's file twice, as analyse() does, and holds one rank in memory at a
/// time. Errors: TraceError if nothing can be read, or the export cannot be written; then nothing of it
/// remains.
[[nodiscard]] Outcome export_recording(const Request& request, const Progress& progress);

/// Returns a hint for viewing a Perfetto trace of that size; empty if none is needed.
[[nodiscard]] std::string viewer_note(const std::filesystem::path& file, std::uint64_t bytes);

}  // namespace penstock::analysis::exports
