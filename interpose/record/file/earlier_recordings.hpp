// Keeps the recordings of earlier jobs that lie in the folder into which a job records: moves them to a
// folder of their own. Knows only when a recording began.
#pragma once

#include <filesystem>

namespace penstock::record {

/// Who looks for earlier recordings: one rank always, the others only if one is in their place. A thousand
/// ranks that looked at each other's files would burden the file system.
enum class Looks : bool { if_in_the_way, always };

/// Moves all recordings that began before this process to `earlier-1` (or the next free number) in
/// `directory`, and returns that folder; empty if nothing was moved. `own`: the file that this rank will
/// write. Recordings that cannot be moved stay. Ranks of one job may call it at the same time: none begins to
/// record before all are processes, and a lock lets one after the other look. Errors: std::bad_alloc.
[[nodiscard]] std::filesystem::path set_earlier_recordings_aside(const std::filesystem::path& directory,
                                                                 const std::filesystem::path& own,
                                                                 Looks looks);

}  // namespace penstock::record
