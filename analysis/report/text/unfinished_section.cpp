#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t fewest_rows = 16;  ///< of ranks, unless --top asks for more

std::string job_time_text(std::uint64_t time_ns) {
  return fmt::format("{:.2f} s", static_cast<double>(time_ns) * 1e-9);
}

std::string end_text(const UnfinishedRankFigures& rank) {
  switch (rank.state) {
    case RankEnd::killed:
      return "killed";
    case RankEnd::aborted:
      return "MPI_Abort";
    case RankEnd::exited:
      return "exited";
    case RankEnd::running:
      return "runs";
    case RankEnd::finished:
      return "finalized";
    default:
      return "no recording";
  }
}

std::string waits_for_text(const OpenCallFigures& call) {
  constexpr std::size_t shown = 4;
  std::vector<std::int32_t> ranks = call.waits_for;
  ranks.resize(std::min(ranks.size(), shown));
  std::string text = fmt::format("{}", fmt::join(ranks, call.waits_for_any ? " or " : ", "));
  return call.waits_for.size() > shown ? fmt::format("{} and {} more", text, call.waits_for.size() - shown)
                                       : text;
}

void add_rank(TextTable& rows, const UnfinishedRankFigures& rank) {
  const std::string alive = rank.last_alive_ns ? job_time_text(*rank.last_alive_ns) : "–";
  if (rank.calls.empty()) {
    const bool is_known =
        rank.calls_known && rank.state != RankEnd::finished && rank.state != RankEnd::missing;
    const std::string after = rank.last_call.empty() ? "" : "after " + printable(rank.last_call);
    rows.add_row({std::to_string(rank.rank), end_text(rank), alive,
                  !is_known       ? after
                  : after.empty() ? "outside MPI"
                                  : "outside MPI, " + after,
                  rank.last_call.empty() ? "" : job_time_text(rank.last_call_end_ns), ""});
  }
  for (const OpenCallFigures& call : rank.calls) {
    const bool is_first = &call == &rank.calls.front();
    rows.add_row({is_first ? std::to_string(rank.rank) : "", is_first ? end_text(rank) : "",
                  is_first ? alive : "", printable(call.call) + (call.what.empty() ? "" : ": " + call.what),
                  job_time_text(call.since_ns), rank.moves ? "goes on" : waits_for_text(call)});
  }
}

/// Returns the ranks that are named first, then others, in their order; at most so many.
std::vector<const UnfinishedRankFigures*> rows_to_show(const UnfinishedFigures& figures, std::size_t most) {
  std::vector<bool> is_shown(figures.ranks.size(), false);
  std::size_t shown = 0;
  const auto show = [&](std::int32_t rank) {
    if (shown < most && !is_shown[static_cast<std::size_t>(rank)]) {
      is_shown[static_cast<std::size_t>(rank)] = true;
      ++shown;
    }
  };
  for (const StandstillFigures& each : figures.standstills) {
    std::for_each(each.ranks.rbegin(), each.ranks.rend(), show);
  }
  for (const UnfinishedRankFigures& each : figures.ranks) {
    show(each.rank);
  }
  std::vector<const UnfinishedRankFigures*> rows;
  for (const UnfinishedRankFigures& each : figures.ranks) {
    if (is_shown[static_cast<std::size_t>(each.rank)]) {
      rows.push_back(&each);
    }
  }
  return rows;
}

void write_words(ReportWriter& out, const std::string& words, bool is_bold) {
  for (const std::string& each : wrapped(printable(words), out.options.columns)) {
    out.line(is_bold ? out.bold(each) : each);
  }
}

}  // namespace

void write_unfinished(ReportWriter& out) {
  if (!out.report.unfinished) {
    return;
  }
  const UnfinishedFigures& figures = *out.report.unfinished;
  for (const std::string& each : wrapped("! " + printable(figures.words), out.options.columns)) {
    out.warn(each);
  }
  if (figures.looked_at_realtime_ns) {
    const auto at = static_cast<std::time_t>(*figures.looked_at_realtime_ns / 1'000'000'000);
    const std::uint64_t since_ns = *figures.looked_at_realtime_ns - out.report.began_realtime_ns;
    write_words(out,
                fmt::format("Looked at {:%H:%M:%S}, {} after the job's begin.", fmt::localtime(at),
                            job_time_text(since_ns)),
                false);
  }
  constexpr std::size_t most_standstills = 4;
  for (std::size_t i = 0; i < std::min(most_standstills, figures.standstills.size()); ++i) {
    write_words(out, figures.standstills[i].words, true);
  }
  out.note_more(figures.standstills.size(), most_standstills);
  if (!figures.next.empty()) {
    write_words(out, "Next: " + figures.next, false);
  }
  TextTable rows({{"rank", Align::right},
                  {figures.is_running ? "state" : "ended"},
                  {"last alive", Align::right},
                  {"in", Align::left, true},
                  {"from", Align::right},
                  {"waits for"}});
  const std::size_t most = std::max(fewest_rows, out.options.top);
  for (const UnfinishedRankFigures* each :
       rows_to_show(figures, out.options.all ? figures.ranks.size() : most)) {
    add_rank(rows, *each);
  }
  out.table(rows);
  if (!out.options.all) {
    out.note_more(figures.ranks.size(), most);
  }
  const auto unnoticed = std::find_if(figures.ranks.begin(), figures.ranks.end(),
                                      [](const auto& rank) { return rank.threads_unnoticed != 0; });
  if (unnoticed != figures.ranks.end()) {
    out.line(out.dim(fmt::format("rank {}, maybe others: {} more threads, whose calls are not known",
                                 unnoticed->rank, unnoticed->threads_unnoticed)));
  }
  if (!figures.is_whole) {
    out.line(out.dim(
        "not all records are there: a message that is under way may be taken for one that was not sent"));
  }
  out.line();
}

void write_what_follows(ReportWriter& out) {
  if (out.report.unfinished) {
    out.line(out.dim(out.report.unfinished->is_running ? "What was recorded until now:"
                                                       : "What was recorded until then:"));
    out.line();
  }
}

}  // namespace penstock::analysis
