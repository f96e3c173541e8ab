// Recordings of earlier jobs in the folder that a job is about to record into: kept, in a folder of their
// own. Knows of a recording only when it began.
#pragma once

#include <filesystem>

namespace penstock::record {

/// Moves all that began before this process did to `earlier-1` (or the next free number) in `directory`.
/// Ranks of one job may call it at the same time: none has begun a recording before all of them were
/// processes, and one after the other looks. Returns where they are now; empty if nothing was moved. What
/// cannot be moved stays. Errors: std::bad_alloc.
[[nodiscard]] std::filesystem::path set_earlier_recordings_aside(const std::filesystem::path& directory);

}  // namespace penstock::record
