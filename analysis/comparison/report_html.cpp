#include "analysis/comparison/report_html.hpp"

#include "analysis/comparison/diff_text.hpp"
#include "analysis/comparison/trend_text.hpp"
#include "analysis/recording/flaw.hpp"
#include "analysis/report/json/report_json.hpp"

namespace penstock::analysis {
namespace {

constexpr std::string_view report_place = "<!--penstock-report-->";
constexpr std::string_view timeline_place = "<!--penstock-timeline-->";
constexpr std::string_view second_timeline_place = "<!--penstock-second-timeline-->";
constexpr std::string_view diff_place = "<!--penstock-diff-->";
constexpr std::string_view trend_place = "<!--penstock-trend-->";
/// More rows than anybody reads; fewer are used if they are long.
constexpr std::size_t most_rows = 5000;

/// Escapes JSON for a script element, whose content must not look like its end or a comment. Only texts
/// contain "<", and JSON allows the escape there.
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

/// Inserts `json` at its placeholder in the page.
void fill(std::string& page, std::string_view place, std::string_view json) {
  const std::size_t at = page.find(place);
  if (at == std::string::npos) {
    throw TraceError({"the page of this build", std::nullopt, "has no place for its figures"});
  }
  page.replace(at, place.size(), json);
}

/// Returns as many rows of each list as fit. `json_with`: the JSON with so many rows.
template <typename JsonWith>
std::string json_that_fits(std::size_t most_bytes, const JsonWith& json_with) {
  std::size_t rows = most_rows;
  std::string json = escaped(json_with(rows));
  while (json.size() > most_bytes && rows > 1) {
    rows /= 2;
    json = escaped(json_with(rows));
  }
  return json;
}

template <typename Figures>
std::string json_of(const Figures& figures, std::size_t most_bytes) {
  return json_that_fits(most_bytes, [&](std::size_t rows) { return to_short_json(figures, rows); });
}

}  // namespace

// Fills the placeholders from last to first, so that inserted text is never searched for placeholders.
std::string to_html(const Report& report, std::string_view timeline, std::string_view page,
                    std::size_t most_bytes) {
  std::string html(page);
  fill(html, trend_place, "");
  fill(html, diff_place, "");
  fill(html, second_timeline_place, "");
  fill(html, timeline_place, escaped(timeline));
  fill(html, report_place, json_of(report, most_bytes));
  return html;
}

std::string to_html(const Diff& diff, const TwoTimelines& timelines, std::string_view page,
                    std::size_t most_bytes) {
  std::string html(page);
  fill(html, trend_place, "");
  fill(html, diff_place, json_of(diff, most_bytes));
  fill(html, second_timeline_place, escaped(timelines.after));
  fill(html, timeline_place, escaped(timelines.before));
  fill(html, report_place, "");
  return html;
}

std::string to_html(const Trend& trend, const std::vector<LeftOut>& left_out, std::string_view page,
                    std::size_t most_bytes) {
  std::string html(page);
  fill(html, trend_place,
       json_that_fits(most_bytes, [&](std::size_t runs) { return to_short_json(trend, left_out, runs); }));
  for (const std::string_view place : {diff_place, second_timeline_place, timeline_place, report_place}) {
    fill(html, place, "");
  }
  return html;
}

}  // namespace penstock::analysis
