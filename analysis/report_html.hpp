// The report as a page that a browser opens: puts the report's JSON into the page that viz/ builds. Must not
// know what the page shows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis/report.hpp"

namespace penstock::analysis {

/// A page is no larger than this, but for the page itself: longer lists lose their last rows, and the page
/// says so.
inline constexpr std::size_t most_report_bytes = 16'000'000;

/// `page`: with the comment `<!--penstock-report-->` where the report goes. Errors: TraceError if it has
/// none.
[[nodiscard]] std::string to_html(const Report& report, std::string_view page,
                                  std::size_t most_bytes = most_report_bytes);

}  // namespace penstock::analysis
