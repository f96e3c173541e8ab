// Writes a report, a comparison of two, or a history, as a page for a browser: inserts the JSON into the page
// that viz/ builds. Must not know what the page shows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/comparison/diff.hpp"
#include "analysis/comparison/trend.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// The report's largest size in a page: longer lists lose their last rows, and the page shows that. With the
/// timeline, which has its own bound, and the page itself, a file stays under 20 MB.
inline constexpr std::size_t most_report_bytes = 8'000'000;

/// `page`: with the comments `<!--penstock-report-->`, `<!--penstock-timeline-->`,
/// `<!--penstock-second-timeline-->`, `<!--penstock-diff-->` and `<!--penstock-trend-->`. `timeline`: its
/// JSON; may be empty. Errors: TraceError if a placeholder is missing.
[[nodiscard]] std::string to_html(const Report& report, std::string_view timeline, std::string_view page,
                                  std::size_t most_bytes = most_report_bytes);
/// The timelines of two runs, as JSON; may be empty.
struct TwoTimelines {
  std::string before;
  std::string after;
};

/// Inserts the comparison at `<!--penstock-diff-->` and leaves the report's place empty.
[[nodiscard]] std::string to_html(const Diff& diff, const TwoTimelines& timelines, std::string_view page,
                                  std::size_t most_bytes = most_report_bytes);

/// Inserts the history at `<!--penstock-trend-->` and leaves all other places empty. Where it is too large,
/// its oldest runs are left out.
[[nodiscard]] std::string to_html(const Trend& trend, const std::vector<LeftOut>& left_out,
                                  std::string_view page, std::size_t most_bytes = most_report_bytes);

}  // namespace penstock::analysis
