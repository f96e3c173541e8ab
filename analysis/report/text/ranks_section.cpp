#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

constexpr std::size_t few_ranks = 8;
constexpr std::size_t thread_rows = 16;  ///< of all ranks, unless --top asks for more

/// Returns a row of the table; `of` is the rank or one of its threads.
template <typename Figures>
std::vector<std::string> row_of(const ReportWriter& out, const std::string& title, const RankFigures& rank,
                                const Figures& of) {
  const auto recorded = [&](std::uint64_t time_ns) {
    return rank.total_ns != 0 ? out.unit.number(static_cast<double>(time_ns)) : std::string("–");
  };
  const auto known = [&](std::uint64_t time_ns) { return rank.kernels_known ? recorded(time_ns) : "–"; };
  return {title,
          recorded(rank.total_ns) + (rank.finished ? "" : " †"),
          known(of.kernels_ns),
          recorded(of.communication_ns),
          known(of.hidden_ns),
          rank.kernels_known && of.communication_ns != 0
              ? percent_text(share_of(of.hidden_ns, of.communication_ns))
              : "–",
          out.is_exposed ? known(of.exposed_ns) : recorded(of.host_ns),
          known(of.upper_bound_ns),
          rank.is_counted && rank.total_ns != 0 ? percent_text(share_of(of.counted_ns, rank.total_ns)) : "–"};
}

constexpr const char* all_kernels_mark = " §";

bool counts_all_kernels(const RankFigures& rank, const ThreadFigures& thread) {
  return rank.kernels_known && thread.gpus.empty();
}

/// Returns the threads that may wait longest, by number; all of them if they are not too many.
std::vector<const ThreadFigures*> threads_to_show(const RankFigures& rank, std::size_t most) {
  std::vector<const ThreadFigures*> shown;
  for (const ThreadFigures& each : rank.threads) {
    shown.push_back(&each);
  }
  if (shown.size() > most) {
    std::stable_sort(shown.begin(), shown.end(), [](const ThreadFigures* left, const ThreadFigures* right) {
      return std::tie(left->upper_bound_ns, left->counted_ns) >
             std::tie(right->upper_bound_ns, right->counted_ns);
    });
    shown.resize(most);
    std::sort(shown.begin(), shown.end());
  }
  return shown;
}

/// Adds the rank's row, and below it those of its threads.
void add_rows(const ReportWriter& out, TextTable& rows, const std::string& title, const RankFigures& rank,
              std::size_t most_threads) {
  rows.add_row(row_of(out, title, rank, rank));
  for (const ThreadFigures* thread : threads_to_show(rank, most_threads)) {
    const std::string name = printable(label_of(*thread, rank.threads));
    const char* const mark = counts_all_kernels(rank, *thread) ? all_kernels_mark : "";
    rows.add_row(row_of(out, fmt::format("  rank {}, thread {}{}", rank.rank, name, mark), rank, *thread));
  }
}

void write_what_threads_are(ReportWriter& out, std::size_t most_threads) {
  const auto any_thread = [&](auto condition) {
    return std::any_of(out.report.ranks.begin(), out.report.ranks.end(), [&](const RankFigures& rank) {
      return std::any_of(rank.threads.begin(), rank.threads.end(),
                         [&](const ThreadFigures& thread) { return condition(rank, thread); });
    });
  };
  std::size_t threads = 0;
  for (const RankFigures& rank : out.report.ranks) {
    threads = std::max(threads, rank.threads.size());
  }
  if (threads > most_threads) {
    out.line(out.dim(
        fmt::format("of {} threads in a rank, those with most \"up to\" (--top {})", threads, threads)));
  }
  if (any_thread([](const RankFigures& rank, const ThreadFigures&) { return rank.kernels_known; })) {
    out.line(out.dim("thread: its own calls and messages, and kernels on the GPUs on which it launches any"));
  }
  if (any_thread(counts_all_kernels)) {
    out.line(out.dim("§ is not known to have launched any: the kernels of all the rank's GPUs"));
  }
}

}  // namespace

void write_ranks(ReportWriter& out) {
  const bool is_each = out.report.ranks.size() <= std::max(few_ranks, out.options.top);
  const std::size_t rank_rows = is_each ? std::max<std::size_t>(out.report.ranks.size(), 1) : 3;
  const std::size_t most_threads = std::max(out.options.top, thread_rows / rank_rows);
  TextTable rows({{is_each ? "Rank" : "Ranks", Align::left, true},
                  {fmt::format("{} {}", out.whole, out.unit.name()), Align::right},
                  {"kernels", Align::right},
                  {"comm.", Align::right},
                  {"hidden", Align::right},
                  {"overlap", Align::right},
                  {out.is_exposed ? "exposed" : "in MPI", Align::right},
                  {"up to", Align::right},
                  {out.of_whole_title, Align::right}});
  if (is_each) {
    for (const RankFigures& rank : out.report.ranks) {
      add_rows(out, rows, std::to_string(rank.rank), rank, most_threads);
    }
  } else {
    std::vector<const RankFigures*> order;
    for (const RankFigures& rank : out.report.ranks) {
      order.push_back(&rank);
    }
    std::stable_sort(order.begin(), order.end(), [](const RankFigures* left, const RankFigures* right) {
      return left->counted_ns < right->counted_ns;
    });
    const auto add = [&](const char* title, const RankFigures* rank) {
      add_rows(out, rows, fmt::format("{} (rank {})", title, rank->rank), *rank, most_threads);
    };
    add("least", order.front());
    add("median", order[order.size() / 2]);
    add("most", order.back());
  }
  out.table(rows);
  write_what_threads_are(out, most_threads);
  std::vector<std::string_view> words;
  if (std::any_of(out.report.ranks.begin(), out.report.ranks.end(), [](const RankFigures& rank) {
        return rank.kernels_known && rank.upper_bound_ns > rank.exposed_ns;
      })) {
    words.emplace_back("up to: with messages under way while the rank was outside MPI");
  }
  if (out.is_exposed && out.report.parts &&
      time_of(*out.report.parts, TimePart::mpi_files) * 20 >= out.report.total_ns) {
    words.emplace_back("comm., exposed: here with files");
  }
  if (!words.empty()) {
    out.line(out.dim(fmt::format("{}", fmt::join(words, "; "))));
  }
  if (std::any_of(out.report.ranks.begin(), out.report.ranks.end(),
                  [](const RankFigures& rank) { return !rank.finished; })) {
    out.line(out.dim("† did not reach MPI_Finalize: figures up to its last record"));
  }
}

}  // namespace penstock::analysis
