#include <fmt/format.h>

#include <cmath>
#include <string>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

void write_efficiencies(ReportWriter& out, const ReplayFigures& replay) {
  const EfficiencyFigures& host = replay.efficiency;
  if (!replay.gpu_efficiency) {
    TextTable rows({{"Efficiency (POP)"}, {""}});
    rows.add_row({"parallel efficiency", percent_text(host.parallel)});
    rows.add_row({"├─ load balance", percent_text(host.load_balance)});
    rows.add_row({"└─ communication", percent_text(host.communication)});
    rows.add_row({"   ├─ serialisation", percent_text(host.serialisation)});
    rows.add_row({"   └─ transfer", percent_text(host.transfer)});
    out.table(rows);
    return;
  }
  TextTable rows({{"Efficiency (POP)"}, {""}, {"Efficiency of the GPUs (TALP)"}, {""}});
  const auto gpu = [&](double GpuEfficiencyFigures::*figure) {
    return percent_text((*replay.gpu_efficiency).*figure);
  };
  rows.add_row({"parallel efficiency", percent_text(host.parallel), "parallel efficiency",
                gpu(&GpuEfficiencyFigures::parallel)});
  rows.add_row({"├─ load balance", percent_text(host.load_balance), "├─ load balance",
                gpu(&GpuEfficiencyFigures::load_balance)});
  rows.add_row({"└─ communication", percent_text(host.communication), "├─ communication",
                gpu(&GpuEfficiencyFigures::communication)});
  rows.add_row({"   ├─ serialisation", percent_text(host.serialisation), "└─ orchestration",
                gpu(&GpuEfficiencyFigures::orchestration)});
  rows.add_row({"   └─ transfer", percent_text(host.transfer), "", ""});
  out.table(rows);
}

void write_critical_path(ReportWriter& out, const ReplayFigures& replay) {
  const PathFigures& path = replay.path;
  const auto share = [&](std::uint64_t time_ns) {
    return percent_text(share_of(time_ns, replay.observed_ns));
  };
  const bool has_kernels = out.is_exposed || path.kernels_ns != 0;
  const char* const kernels = out.report.nccl ? " kernels, NCCL's among them, " : " kernels, ";
  std::string text = fmt::format("The critical path: {}{}{} host code, {} communication",
                                 has_kernels ? share(path.kernels_ns) + kernels : std::string(),
                                 path.launch_ns != 0 ? share(path.launch_ns) + " kernel launch, " : "",
                                 share(path.host_code_ns), share(path.communication_ns));
  if (!path.calls.empty()) {
    text += fmt::format(", most of it {} ({})", printable(path.calls.front().first),
                        share(path.calls.front().second));
  }
  if (path.before_steps_ns != 0 && path.first_rank >= 0) {
    text += fmt::format(", {} before rank {}{}", share(path.before_steps_ns), path.first_rank,
                        out.report.steps ? "'s first step" : " began");
  }
  if (!path.ranks.empty()) {
    text += fmt::format("; it runs through rank {} for {}", path.ranks.front().first,
                        share(path.ranks.front().second));
  }
  text += ". Only shortening it shortens the run.";
  out.line();
  for (const std::string& each : wrapped(text, out.options.columns)) {
    out.line(each);
  }
  if (replay.edges_left_out != 0) {
    out.line(out.dim(
        fmt::format("{} waits could not be ordered and are left out.", count_text(replay.edges_left_out))));
  }
}

}  // namespace

/// Prints the results of the replay in a few lines; --all adds the trees of efficiencies.
void write_replay(ReportWriter& out) {
  if (!out.report.replay || out.report.replay->observed_ns == 0) {
    if (out.options.all && !out.report.why_no_replay.empty()) {
      out.line();
      out.line(out.dim("No what-if: " + out.report.why_no_replay + "."));
    }
    return;
  }
  const ReplayFigures& replay = *out.report.replay;
  TextTable rows({{"What if", Align::left, true},
                  {out.unit.name(), Align::right},
                  {"instead of", Align::right},
                  {"", Align::right}});
  for (const WhatIfFigures& each : replay.what_if) {
    const double saved = 1 - static_cast<double>(each.total_ns) / static_cast<double>(replay.observed_ns);
    if (out.options.all || each.is_asked || saved >= 0.005) {
      rows.add_row({each.words, out.unit.number(static_cast<double>(each.total_ns)),
                    out.unit.number(static_cast<double>(replay.observed_ns)),
                    std::abs(saved) < 0.0005 ? "0.0 %" : fmt::format("{:+.1f} %", -100 * saved)});
    }
  }
  if (!rows.empty()) {
    out.table(rows);
  }
  if (out.options.all) {
    write_efficiencies(out, replay);
    write_critical_path(out, replay);
  }
}

}  // namespace penstock::analysis
