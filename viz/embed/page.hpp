// The page that shows a report, as built from viz/src, without a report in it. Knows nothing of reports.
#pragma once

#include <string_view>

namespace penstock::viz {

/// HTML with the place for a report. Empty where this build has no page: it was built without npm.
[[nodiscard]] std::string_view page() noexcept;

}  // namespace penstock::viz
