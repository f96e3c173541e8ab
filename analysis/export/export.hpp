// From a recording to a file of another format. Decides what is read in which order; knows none of the
// formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/recording/flaw.hpp"
#include "analysis/sharing/progress.hpp"

namespace penstock::analysis::exports {

enum class Format : std::uint8_t { perfetto, otf2, csv };

struct Request {
  std::filesystem::path recording;
  Format format = Format::perfetto;
  std::filesystem::path to;  ///< a file for Perfetto, else a directory
  bool replace = false;      ///< an earlier export there
};

struct Outcome {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;         ///< written
  std::vector<Flaw> flaws;         ///< of the recording; what could be read was exported
  std::vector<std::string> notes;  ///< for the user, a line each
};

/// Reads each recording twice, as analyse() does, and has one rank in memory at a time.
/// Errors: TraceError when nothing can be read, or the export cannot be written; then nothing is left of it.
[[nodiscard]] Outcome export_recording(const Request& request, const Progress& progress);

/// What has to be said of a Perfetto trace of that size; empty if nothing.
[[nodiscard]] std::string viewer_note(const std::filesystem::path& file, std::uint64_t bytes);

}  // namespace penstock::analysis::exports
