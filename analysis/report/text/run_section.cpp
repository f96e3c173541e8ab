#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <string>
#include <vector>

#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/conclusions/misplaced.hpp"
#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {

void write_header(ReportWriter& out) {
  const auto began = static_cast<std::time_t>(out.report.began_realtime_ns / 1'000'000'000);
  std::vector<std::string> facts{
      fmt::format("{} rank{} on {}", out.report.world_size, out.report.world_size == 1 ? "" : "s",
                  out.report.hosts.size() == 1 ? printable(out.report.hosts.front())
                                               : fmt::format("{} hosts", out.report.hosts.size())),
      short_version(out.report.mpi_version)};
  if (out.report.simulated_gpu) {
    facts.emplace_back("simulated GPU");
  } else if (!out.report.devices.empty()) {
    facts.push_back(printable(out.report.devices.front()));
  }
  facts.push_back(fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(began)));
  std::erase(facts, std::string());
  out.line(out.bold(shortened("penstock · " + command_text(out.report.program), out.options.columns)));
  out.line(out.dim(shortened(fmt::format("{}", fmt::join(facts, " · ")), out.options.columns)));
  out.line();
}

/// Prints what no figure covers.
void write_recorded_part(ReportWriter& out) {
  if (out.report.recorded_part) {
    out.warn("! " + recorded_part_text(*out.report.recorded_part) + ".");
    out.line();
  }
}

void write_verdict(ReportWriter& out) {
  for (const std::string& each : wrapped(headline_of(out.report).text, out.options.columns)) {
    out.line(out.bold(each));
  }
}

/// Names GPUs that were slower than they can be: it is the reason of much, and no figure below shows it.
void write_throttled(ReportWriter& out) {
  const std::vector<std::string> texts = throttled_texts(out.report);
  for (std::size_t i = 0; i < std::min(texts.size(), out.options.top); ++i) {
    out.warn("! " + printable(texts[i]));
  }
  out.note_more(texts.size());
}

void write_misplaced(ReportWriter& out) {
  for (const std::string& each : misplaced_texts(out.report)) {
    out.warn("! " + printable(each));
  }
}

}  // namespace penstock::analysis
