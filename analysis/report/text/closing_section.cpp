#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

constexpr std::uint64_t least_clock_error_ns = 50;  ///< which is told as 0.1 µs; less says nothing

void write_flaws_that(ReportWriter& out, bool lose_records) {
  std::size_t count = 0;
  for (const Flaw& flaw : out.report.flaws) {
    if (flaw.loses_records == lose_records && count++ < out.options.top) {
      out.warn("! " + printable(describe(flaw)));
    }
  }
  out.note_more(count);
}

}  // namespace

void write_lost_records(ReportWriter& out) {
  write_flaws_that(out, true);
}

void write_flaws(ReportWriter& out) {
  write_flaws_that(out, false);
}

void write_closing(ReportWriter& out) {
  std::uint64_t records = 0;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_gpu = 0;
  std::uint64_t cost_ns = 0;
  std::uint64_t cost_of_ns = 0;  ///< run time of the ranks whose cost is known
  std::uint64_t start_ns = 0;    ///< of the slowest rank, because the job waits for it
  std::uint64_t finish_ns = 0;
  std::uint64_t clock_error_ns = 0;
  bool is_clock_known = true;
  for (const RankFigures& rank : out.report.ranks) {
    records += rank.records;
    dropped += rank.dropped_records;
    dropped_gpu += rank.dropped_gpu_records;
    cost_ns += rank.own_cost_ns.value_or(0);
    cost_of_ns += rank.own_cost_ns ? rank.run_ns : 0;
    start_ns = std::max(start_ns, rank.start_cost_ns.value_or(0));
    finish_ns = std::max(finish_ns, rank.finish_cost_ns.value_or(0));
    is_clock_known = is_clock_known && (!rank.kernels_known || rank.clock_error_ns);
    clock_error_ns = std::max(clock_error_ns, rank.clock_error_ns.value_or(0));
  }
  const bool has_none_in_part = records != 0 && out.report.total_ns == 0 && out.report.recorded_part;
  std::string text =
      fmt::format("{} records{}, {} dropped", count_text(records),
                  has_none_in_part ? " (none of them in the recorded part)" : "", count_text(dropped));
  if (dropped_gpu != 0) {
    text += fmt::format(", {} GPU records lost (exposed time is then too high)", count_text(dropped_gpu));
  }
  text += cost_of_ns == 0
              ? "; recording cost unknown"
              : fmt::format("; recording cost {} of the run", percent_text(share_of(cost_ns, cost_of_ns)));
  if (start_ns != 0) {
    const TimeUnit unit(static_cast<double>(std::max(start_ns, finish_ns)));
    text += fmt::format(", {} to start and {} to end it", time_text(static_cast<double>(start_ns), unit),
                        time_text(static_cast<double>(finish_ns), unit));
  }
  if (out.is_exposed && !is_clock_known) {
    text += "; GPU clock error unknown";
  } else if (out.is_exposed && clock_error_ns >= least_clock_error_ns) {
    text += fmt::format("; GPU clock error ≤ {:.1f} µs", static_cast<double>(clock_error_ns) * 1e-3);
  }
  if (!out.report.one_clock) {
    text +=
        fmt::format("; clocks of {} of {} hosts were synchronised by the messages between them, error ≤ {}",
                    out.report.aligned_hosts, out.report.hosts.size(),
                    time_text(static_cast<double>(out.report.host_clock_error_ns)));
    if (out.report.aligned_hosts < out.report.hosts.size()) {
      text += "; waits between other hosts are unattributed";
    }
  }
  out.line();
  out.dim_lines(text + ".");
  if (const std::string energy = energy_text(out.report); !energy.empty()) {
    out.dim_lines(printable(energy));
  }
  for (const std::string& network : network_texts(out.report)) {
    out.dim_lines(network);
  }
  if (out.has_marks()) {
    out.line(
        out.dim("‡ half of it or more is within the error of the hosts' clocks: it may have another cause"));
  }
  for (std::size_t i = 0; i < std::min(out.report.notices.size(), out.options.top); ++i) {
    const NoticeFigures& notice = out.report.notices[i];
    const std::string who =
        notice.ranks == 1 ? fmt::format("rank {}", notice.first_rank) : fmt::format("{} ranks", notice.ranks);
    out.warn(fmt::format("! {}: {}", who, printable(notice.text)));
  }
  out.note_more(out.report.notices.size());
  write_flaws(out);
}

}  // namespace penstock::analysis
