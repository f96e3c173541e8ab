#include "analysis/report_html.hpp"

#include "analysis/flaw.hpp"
#include "analysis/report_json.hpp"

namespace penstock::analysis {
namespace {

constexpr std::string_view place = "<!--penstock-report-->";
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

std::string to_html(const Report& report, std::string_view page, std::size_t most_bytes) {
  const std::size_t at = page.find(place);
  if (at == std::string_view::npos) {
    throw TraceError({"the page of this build", std::nullopt, "has no place for a report"});
  }
  std::size_t rows = most_rows;
  std::string json = escaped(to_short_json(report, rows));
  while (json.size() > most_bytes && rows > 1) {
    rows /= 2;
    json = escaped(to_short_json(report, rows));
  }
  std::string html;
  html.reserve(page.size() + json.size());
  html.append(page.substr(0, at)).append(json).append(page.substr(at + place.size()));
  return html;
}

}  // namespace penstock::analysis
