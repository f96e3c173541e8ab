// Keeps the recordings of earlier jobs that lie in the folder into which a job records: moves them to a
// folder of their own. Knows only when a recording began.
#pragma once

#include <filesystem>

namespace penstock::record {

/// Moves all recordings that began before this process to `earlier-1` (or the next free number) in
/// `directory`, and returns that folder; empty if nothing was moved. Recordings that cannot be moved stay.
/// Ranks of one job may call it at the same time: none begins to record before all are processes, and a lock
/// lets one after the other look. Errors: std::bad_alloc.
[[nodiscard]] std::filesystem::path set_earlier_recordings_aside(const std::filesystem::path& directory);

}  // namespace penstock::record
