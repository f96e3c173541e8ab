#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

/// An NVTX range of a thread, for a row.
struct ThreadPhase {
  const RankFigures* rank;
  const ThreadFigures* thread;
  const ThreadPhaseFigures* phase;
};

std::vector<ThreadPhase> phases_of_threads(const Report& report) {
  std::vector<ThreadPhase> all;
  for (const RankFigures& rank : report.ranks) {
    for (const ThreadFigures& thread : rank.threads) {
      for (const ThreadPhaseFigures& phase : thread.phases) {
        all.push_back({&rank, &thread, &phase});
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const ThreadPhase& left, const ThreadPhase& right) {
    return std::tie(left.phase->upper_bound_ns, left.phase->total_ns) >
           std::tie(right.phase->upper_bound_ns, right.phase->total_ns);
  });
  return all;
}

}  // namespace

void write_thread_phases(ReportWriter& out) {
  const std::vector<ThreadPhase> all = phases_of_threads(out.report);
  if (all.empty()) {
    return;
  }
  TextTable rows({{"NVTX phase of a thread", Align::left, true},
                  {"rank"},
                  {"thread"},
                  {fmt::format("{} in it", out.unit.name()), Align::right},
                  {out.is_exposed ? "exposed in it" : "in MPI in it", Align::right},
                  {"up to", Align::right}});
  for (std::size_t i = 0; i < std::min(all.size(), out.options.top); ++i) {
    const auto [rank, thread, phase] = all[i];
    const auto time = [&](std::uint64_t time_ns) { return out.unit.number(static_cast<double>(time_ns)); };
    rows.add_row({printable(phase->name), std::to_string(rank->rank),
                  printable(label_of(*thread, rank->threads)), time(phase->total_ns), time(phase->counted_ns),
                  rank->kernels_known ? time(phase->upper_bound_ns) : "–"});
  }
  out.table(rows);
  out.note_more(all.size());
}

}  // namespace penstock::analysis
