#include "analysis/report_html.hpp"

#include "analysis/flaw.hpp"
#include "analysis/report_json.hpp"

namespace penstock::analysis {
namespace {

constexpr std::string_view report_place = "<!--penstock-report-->";
constexpr std::string_view timeline_place = "<!--penstock-timeline-->";
/// More rows than anybody reads; fewer where they are long.
constexpr std::size_t most_rows = 5000;

/// Nothing within a script element may look like its end or a comment. Only texts have "<", and may have it
/// so.
std::string escaped(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char each : json) {
    if (each == '<') {
      text += "\\u003c";
    } else {
      text += each;
    }
  }
  return text;
}

}  // namespace

std::string to_html(const Report& report, std::string_view timeline, std::string_view page,
                    std::size_t most_bytes) {
  const std::size_t report_at = page.find(report_place);
  const std::size_t timeline_at = page.find(timeline_place, report_at);
  if (report_at == std::string_view::npos || timeline_at == std::string_view::npos) {
    throw TraceError({"the page of this build", std::nullopt, "has no place for a report and its timeline"});
  }
  std::size_t rows = most_rows;
  std::string json = escaped(to_short_json(report, rows));
  while (json.size() > most_bytes && rows > 1) {
    rows /= 2;
    json = escaped(to_short_json(report, rows));
  }
  std::string html;
  const std::string timeline_json = escaped(timeline);
  html.reserve(page.size() + json.size() + timeline_json.size());
  const std::size_t behind_report = report_at + report_place.size();
  html.append(page.substr(0, report_at)).append(json);
  html.append(page.substr(behind_report, timeline_at - behind_report)).append(timeline_json);
  html.append(page.substr(timeline_at + timeline_place.size()));
  return html;
}

}  // namespace penstock::analysis
