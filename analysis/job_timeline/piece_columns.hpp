// Writes the pieces of a track as columns of the timeline's document, with their names. Must not know how
// pieces are chosen.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/export/common/names.hpp"
#include "analysis/job_timeline/detail.hpp"
#include "analysis/job_timeline/job_timeline.hpp"

namespace penstock::analysis::job_timeline {

/// Fills in the columns of the pieces that `detail` holds. `number`: of the track in it.
void write_pieces(const RankTrace& rank, const exports::Track& track, std::size_t number,
                  const Detail& detail, exports::RankNames& names, TextTable& texts, TrackColumns& columns);
void write_pieces(const std::vector<Wait>& waits, const Detail& detail, TrackColumns& columns);

}  // namespace penstock::analysis::job_timeline
