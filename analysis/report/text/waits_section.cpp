#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

/// Returns the reasons for what the table calls unattributed: calls on files are a part of their own.
std::vector<GapFigures> gaps_in_table(const Report& report) {
  std::vector<GapFigures> gaps = report.gaps;
  if (report.parts) {
    std::erase_if(gaps, [](const GapFigures& gap) { return is_file_call(gap.mpi_function); });
  }
  return gaps;
}

/// Prints what the rows of the table mean. Kernels need no words; host code and reasons for unattributed time
/// have lines of their own.
void write_meanings(ReportWriter& out, const std::vector<TimePart>& rows) {
  std::vector<std::string> meanings;
  for (const TimePart part : rows) {
    const bool has_line = part == TimePart::unattributed && !gaps_in_table(out.report).empty();
    if (part != TimePart::kernels && part != TimePart::host_code && !has_line) {
      meanings.push_back(fmt::format("{}: {}", name_of(part), meaning_of(part)));
    }
  }
  if (!meanings.empty()) {
    out.dim_lines(fmt::to_string(fmt::join(meanings, "; ")));
  }
}

/// Prints the reasons for "unattributed" in one line.
void write_gaps(ReportWriter& out) {
  const std::vector<GapFigures> gaps = gaps_in_table(out.report);
  if (gaps.empty()) {
    return;
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min<std::size_t>(gaps.size(), 3); ++i) {
    const GapFigures& each = gaps[i];
    parts.push_back(fmt::format("{} {} ({})", printable(each.mpi_function), out.of_whole(each.counted_ns),
                                name_of(each.gap)));
  }
  const std::size_t more = gaps.size() - parts.size();
  const std::string text = fmt::format("unattributed: {}{}", fmt::join(parts, ", "),
                                       more == 0 ? "" : fmt::format(" and {} more", more));
  out.dim_lines(text, 2);
}

void write_causes_alone(ReportWriter& out, const std::vector<Cause>& order) {
  TextTable rows({{out.is_exposed ? "Why exposed" : "Communication time by cause"},
                  {fmt::format("{}/rank", out.unit.name()), Align::right},
                  {out.of_whole_title, Align::right},
                  {""}});
  for (const Cause cause : order) {
    const std::uint64_t time_ns = out.report.by_cause[static_cast<std::size_t>(cause)];
    rows.add_row({out.marked(std::string(name_of(cause)), time_ns,
                             out.report.within_error[static_cast<std::size_t>(cause)]),
                  out.per_rank(time_ns), out.of_whole(time_ns),
                  bar_text(share_of(time_ns, out.report.counted_ns), 40)});
  }
  out.table(rows);
}

/// Returns how to see who calls the largest call site, if it is called from several places of the program and
/// has half of the time, as a wrapper that all communication goes through.
std::string hint_at_wrapper(const Report& report) {
  if (report.call_sites.front().counted_ns * 2 < report.counted_ns) {
    return "";
  }
  std::set<std::string> callers;
  for (const CallPathFigures& path : report.call_paths) {
    if (path.call_site == 0 && path.counted_ns != 0 && path.shown + 1 < path.frames.size()) {
      callers.insert(path.frames[path.shown + 1]);
    }
  }
  const std::string function = printable(report.call_sites.front().function);
  return callers.size() < 2 || function.empty()
             ? ""
             : fmt::format("{} is called from {} places: --skip {} shows these instead.", function,
                           callers.size(), function);
}

/// Returns true if the largest call site has no line, and the program that ran may be why.
bool lacks_debug_information(const Report& report) {
  const std::vector<std::string>& rebuilt = report.rebuilt_modules;
  return report.tells_lines && !report.call_sites.empty() && report.call_sites.front().line == 0 &&
         !report.call_sites.front().module.empty() &&
         std::find(rebuilt.begin(), rebuilt.end(), report.call_sites.front().module) == rebuilt.end();
}

/// Returns what a call site mostly waits for: what has no cause and is in a call on files is the part of
/// files.
std::string site_waits_text(const Report& report, const CallSiteFigures& site, Cause cause) {
  if (report.parts && cause == Cause::unattributed && is_file_call(site.mpi_function)) {
    return std::string(name_of(TimePart::mpi_files));
  }
  const std::string who = site.main_counterpart < 0 ? "" : fmt::format(" (rank {})", site.main_counterpart);
  return fmt::format("{}{}", name_of(cause), who);
}

}  // namespace

void write_causes(ReportWriter& out) {
  std::vector<Cause> order;
  for (std::size_t i = 0; i < cause_count; ++i) {
    if (out.report.by_cause[i] != 0) {
      order.push_back(static_cast<Cause>(i));
    }
  }
  const auto time_of_cause = [&](Cause cause) {
    return out.report.by_cause[static_cast<std::size_t>(cause)];
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](Cause left, Cause right) { return time_of_cause(left) > time_of_cause(right); });
  std::vector<TimePart> explained;
  if (out.report.parts && out.report.total_ns != 0) {
    explained = write_parts(out);
  } else if (out.report.counted_ns != 0) {
    write_causes_alone(out, order);
    std::transform(order.begin(), order.end(), std::back_inserter(explained), part_of);
  } else {
    return;
  }
  write_meanings(out, explained);
  write_gaps(out);
  write_places(out);
}

void write_call_sites(ReportWriter& out) {
  TextTable rows({{"Where", Align::left, true},
                  {"MPI function", Align::left, true},
                  {"calls", Align::right},
                  {fmt::format("{}/rank", out.unit.name()), Align::right},
                  {out.of_whole_title, Align::right},
                  {"mostly", Align::left, true}});
  std::size_t waiting = 0;
  for (const CallSiteFigures& site : out.report.call_sites) {
    if (site.counted_ns == 0 || ++waiting > out.options.top) {
      continue;
    }
    const Cause cause = main_cause(site.by_cause);
    rows.add_row(
        {place_text(site), printable(site.mpi_function), count_text(site.calls),
         out.per_rank(site.counted_ns), out.of_whole(site.counted_ns),
         out.marked(site_waits_text(out.report, site, cause), site.by_cause[static_cast<std::size_t>(cause)],
                    site.within_error[static_cast<std::size_t>(cause)])});
  }
  if (waiting != 0) {
    out.table(rows);
    out.note_more(waiting);
    if (const std::string hint = hint_at_wrapper(out.report); !hint.empty()) {
      out.dim_lines(hint);
    }
    if (lacks_debug_information(out.report)) {
      out.line(out.dim("No source lines known: build the program with -g, unstripped (it costs no speed)."));
    }
  }
}

/// Writes the paths that are longer than their call sites.
void write_call_paths(ReportWriter& out) {
  std::size_t waiting = 0;
  for (const CallPathFigures& path : out.report.call_paths) {
    if (path.counted_ns == 0 || path.frames.size() == 1 || ++waiting > out.options.top) {
      continue;
    }
    if (waiting == 1) {
      out.line();
      out.line(out.bold("Call paths: from the call of MPI outwards"));
    }
    std::string words = printable(path.mpi_function);
    for (const std::string& frame : path.frames) {
      words += " ← " + printable(frame);
    }
    const std::string share = fmt::format("{:>7}  ", out.of_whole(path.counted_ns));
    bool is_first = true;
    for (const std::string& line : wrapped(words, out.options.columns - share.size(), 2)) {
      out.line((is_first ? share : std::string(share.size(), ' ')) + line);
      is_first = false;
    }
  }
  if (waiting != 0) {
    out.note_more(waiting);
  }
}

void write_efficiency_over_time(ReportWriter& out) {
  if (!out.report.steps || out.report.steps->efficiency_over_time.empty()) {
    return;
  }
  TextTable rows({{"Steps", Align::right},
                  {fmt::format("{}/step", out.unit.name()), Align::right},
                  {"parallel efficiency", Align::right},
                  {"load balance", Align::right},
                  {"communication", Align::right}});
  for (const StepsEfficiency& each : out.report.steps->efficiency_over_time) {
    const std::string numbers = each.steps == 1 ? count_text(each.first + 1)
                                                : fmt::format("{}–{}", count_text(each.first + 1),
                                                              count_text(each.first + each.steps));
    rows.add_row({numbers, out.per_rank(each.total_ns / each.steps), percent_text(each.efficiency.parallel()),
                  percent_text(each.efficiency.load_balance), percent_text(each.efficiency.communication)});
  }
  out.table(rows);
}

void write_phases(ReportWriter& out) {
  if (out.report.phases.empty()) {
    return;
  }
  TextTable rows({{"NVTX phase", Align::left, true},
                  {fmt::format("{}/rank in it", out.unit.name()), Align::right},
                  {out.is_exposed ? "exposed in it" : "in MPI in it", Align::right},
                  {"of phase", Align::right},
                  {"parallel efficiency", Align::right},
                  {"load balance", Align::right},
                  {"communication", Align::right}});
  const auto share = [](const PhaseFigures& phase, double figure) {
    return phase.efficiency ? percent_text(figure) : std::string("–");
  };
  for (std::size_t i = 0; i < std::min(out.report.phases.size(), out.options.top); ++i) {
    const PhaseFigures& phase = out.report.phases[i];
    const PhaseEfficiency efficiency = phase.efficiency.value_or(PhaseEfficiency{});
    rows.add_row({printable(phase.name), out.per_rank(phase.total_ns), out.per_rank(phase.counted_ns),
                  percent_text(share_of(phase.counted_ns, phase.total_ns)),
                  share(phase, efficiency.parallel()), share(phase, efficiency.load_balance),
                  share(phase, efficiency.communication)});
  }
  out.table(rows);
  out.note_more(out.report.phases.size());
}

}  // namespace penstock::analysis
