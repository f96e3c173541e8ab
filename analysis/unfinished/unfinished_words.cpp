#include "analysis/unfinished/unfinished_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

/// Ranks that end within this time may have ended at once: signs of life come four times a second.
constexpr std::uint64_t at_once_ns = 600'000'000;

std::string time_of_job(std::uint64_t time_ns) {
  return fmt::format("{:.2f} s", static_cast<double>(time_ns) * 1e-9);
}

/// "2 → 1 → 0"; of a long one the ends.
std::string way_text(std::vector<std::int32_t> ranks) {
  constexpr std::size_t shown = 8;
  if (ranks.size() <= shown) {
    return fmt::format("{}", fmt::join(ranks, " → "));
  }
  const std::vector<std::int32_t> first(ranks.begin(), ranks.begin() + 4);
  const std::vector<std::int32_t> last(ranks.end() - 3, ranks.end());
  return fmt::format("{} → … {} more … → {}", fmt::join(first, " → "), ranks.size() - 7,
                     fmt::join(last, " → "));
}

const UnfinishedRankFigures& rank_in(const UnfinishedFigures& figures, std::int32_t rank) {
  return figures.ranks[static_cast<std::size_t>(rank)];
}

std::string function_of(const UnfinishedRankFigures& rank) {
  if (rank.calls.empty()) {
    return "";
  }
  const std::string& call = rank.calls.front().call;
  return call.substr(0, call.find(' '));
}

/// How a rank ended, in the plural for several.
std::string how_it_ended(const UnfinishedRankFigures& rank, bool is_one) {
  switch (rank.state) {
    case RankEnd::killed:
      return is_one ? "was killed, or crashed," : "were killed, or crashed,";
    case RankEnd::aborted:
      return fmt::format("called MPI_Abort({})", rank.abort_code);
    case RankEnd::exited:
      return "exited without MPI_Finalize";
    default:
      return "";
  }
}

bool gave_up(RankEnd state) {
  return state == RankEnd::aborted || state == RankEnd::exited;
}

std::string advice_on_who_gave_up(const std::vector<std::int32_t>& ranks) {
  return fmt::format("look at why {} gave up there: {} error output.", ranks_text(ranks),
                     ranks.size() == 1 ? "its" : "their");
}

/// Returns when a rank ended, as groups are ordered: with MPI_Abort a launcher ends all others, whose last
/// sign of life is up to that much older than their end, and who has aborted stands before them.
std::uint64_t order_of(const UnfinishedRankFigures& rank) {
  const std::uint64_t at_ns = *rank.last_alive_ns;
  return rank.state != RankEnd::aborted ? at_ns : at_ns > at_once_ns ? at_ns - at_once_ns : 0;
}

struct Ended {
  const UnfinishedRankFigures* first;
  std::vector<std::int32_t> ranks;
};

/// Ranks that ended alike and at once, in the order of time.
std::vector<Ended> endings_in(const UnfinishedFigures& figures) {
  std::vector<const UnfinishedRankFigures*> ended;
  for (const UnfinishedRankFigures& each : figures.ranks) {
    if (each.state < RankEnd::running) {
      ended.push_back(&each);
    }
  }
  std::stable_sort(ended.begin(), ended.end(), [](const auto* left, const auto* right) {
    const auto key = [](const UnfinishedRankFigures& each) {
      return std::tuple(order_of(each), each.state != RankEnd::aborted, *each.last_alive_ns, each.rank);
    };
    return key(*left) < key(*right);
  });
  std::vector<Ended> groups;
  for (const UnfinishedRankFigures* each : ended) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Ended& other) {
      return other.first->state == each->state && other.first->abort_code == each->abort_code &&
             *each->last_alive_ns - *other.first->last_alive_ns < at_once_ns;
    });
    if (group == groups.end()) {
      group = groups.insert(group, {each, {}});
    }
    group->ranks.push_back(each->rank);
  }
  for (Ended& each : groups) {
    std::sort(each.ranks.begin(), each.ranks.end());
  }
  return groups;
}

std::vector<std::int32_t> ranks_that_are(const UnfinishedFigures& figures, RankEnd state) {
  std::vector<std::int32_t> ranks;
  for (const UnfinishedRankFigures& each : figures.ranks) {
    if (each.state == state) {
      ranks.push_back(each.rank);
    }
  }
  return ranks;
}

/// Returns what the rank at the end of a chain was in, as a clause.
std::string words_of_end(const UnfinishedRankFigures& end) {
  if (end.state == RankEnd::missing) {
    return ", which has no recording";
  }
  if (end.state == RankEnd::finished) {
    return ", which has reached MPI_Finalize and sends no more";
  }
  constexpr std::string_view abort = "MPI_Abort";
  if (end.state == RankEnd::aborted && function_of(end) == abort) {
    return fmt::format(", which {}{}", how_it_ended(end, true), end.calls.front().call.substr(abort.size()));
  }
  const bool is_gone = end.state < RankEnd::running;
  std::string words = fmt::format(", which {} {}", is_gone ? "was" : "is", whereabouts_text(end));
  if (end.calls.empty() && end.calls_known && !end.moves && !is_gone) {
    words += fmt::format(" from {} of the run on", time_of_job(end.last_call_end_ns));
  }
  if (end.state == RankEnd::killed) {
    words += end.calls.empty() ? ", when it ended" : "";
  } else if (is_gone) {
    words += fmt::format(" when it {}", how_it_ended(end, true));
  }
  if (!end.calls.empty() && !end.moves) {
    words += fmt::format("; for whom it {} is not known", is_gone ? "waited" : "waits");
  }
  return words;
}

}  // namespace

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  if (ranks.size() == 1) {
    return fmt::format("rank {}", ranks.front());
  }
  constexpr std::size_t shown = 6;
  std::vector<std::string> runs;
  std::size_t named = 0;
  for (std::size_t i = 0; i < ranks.size() && runs.size() < shown;) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) {
      ++end;
    }
    if (end - i > 2) {
      runs.push_back(fmt::format("{} to {}", ranks[i], ranks[end - 1]));
    } else {
      end = i + 1;
      runs.push_back(std::to_string(ranks[i]));
    }
    named += end - i;
    i = end;
  }
  if (named < ranks.size()) {
    return fmt::format("ranks {} and {} others", fmt::join(runs, ", "), ranks.size() - named);
  }
  const std::string last = runs.back();
  runs.pop_back();
  return runs.empty() ? "ranks " + last : fmt::format("ranks {} and {}", fmt::join(runs, ", "), last);
}

std::string whereabouts_text(const UnfinishedRankFigures& rank) {
  if (rank.state == RankEnd::missing) {
    return "no recording";
  }
  if (rank.state == RankEnd::finished) {
    return "in or behind MPI_Finalize";
  }
  if (rank.moves) {
    return "goes from call to call";
  }
  if (!rank.calls.empty()) {
    const OpenCallFigures& call = rank.calls.front();
    return fmt::format("in {}{}", call.call, call.what.empty() ? "" : " (" + call.what + ")");
  }
  const std::string after = rank.last_call.empty() ? "" : ", after " + rank.last_call;
  return (rank.calls_known ? "outside MPI" : "not known in what") + after;
}

std::string headline_of(const UnfinishedFigures& figures) {
  std::vector<std::string> sentences;
  for (const Ended& group : endings_in(figures)) {
    const bool is_all = group.ranks.size() == figures.ranks.size() && group.ranks.size() > 1;
    std::string who = !is_all                   ? ranks_text(group.ranks)
                      : group.ranks.size() == 2 ? "both ranks"
                                                : fmt::format("all {} ranks", group.ranks.size());
    sentences.push_back(fmt::format("{} {} at about {}", who,
                                    how_it_ended(*group.first, group.ranks.size() == 1),
                                    time_of_job(*group.first->last_alive_ns)));
  }
  const std::vector<std::int32_t> running = ranks_that_are(figures, RankEnd::running);
  if (figures.is_running && !sentences.empty()) {
    sentences.push_back(
        fmt::format("{} still {}", ranks_text(running), running.size() == 1 ? "runs" : "run"));
  }
  if (const auto missing = ranks_that_are(figures, RankEnd::missing); !missing.empty()) {
    sentences.push_back(
        fmt::format("{} {} no recording", ranks_text(missing), missing.size() == 1 ? "has" : "have"));
  }
  if (const auto finished = ranks_that_are(figures, RankEnd::finished); !finished.empty()) {
    sentences.push_back(fmt::format("{} reached MPI_Finalize", ranks_text(finished)));
  }
  const std::string details = fmt::format("{}", fmt::join(sentences, "; "));
  return (figures.is_running ? "The job still runs" : "The job did not end") +
         (details.empty() ? std::string(".") : ": " + details + ".");
}

std::string words_of_cycle(const UnfinishedFigures& figures, const StandstillFigures& cycle) {
  std::vector<std::int32_t> way = cycle.ranks;
  way.push_back(way.front());
  const std::string function = function_of(rank_in(figures, way.front()));
  const bool is_same = std::all_of(cycle.ranks.begin(), cycle.ranks.end(), [&](std::int32_t rank) {
    return function_of(rank_in(figures, rank)) == function;
  });
  std::string words = way.size() == 2
                          ? fmt::format("Deadlock: rank {} waits in {} for itself.", way.front(), function)
                          : fmt::format("Deadlock {}: each waits{} for the next.", way_text(way),
                                        is_same ? " in " + function : "");
  if (const std::uint64_t others = cycle.waiting_ranks - cycle.ranks.size(); others != 0) {
    words += fmt::format(" {} more rank{} for them.", others, others == 1 ? " waits" : "s wait");
  }
  return words;
}

std::string words_of_chain(const UnfinishedFigures& figures, const StandstillFigures& chain) {
  const UnfinishedRankFigures& end = rank_in(figures, chain.ranks.back());
  const bool is_one = chain.waiting_ranks == 1;
  std::string words = fmt::format(
      "{} {} for rank {}",
      is_one ? fmt::format("Rank {}", chain.ranks.front()) : fmt::format("{} ranks", chain.waiting_ranks),
      !figures.is_running ? "waited"
      : is_one            ? "waits"
                          : "wait",
      end.rank);
  if (chain.ranks.size() > 2) {
    words += fmt::format(" ({})", way_text(chain.ranks));
  }
  return words + words_of_end(end) + ".";
}

std::string advice_on(const UnfinishedFigures& figures) {
  if (figures.standstills.empty()) {
    // a launcher ends the others, whose last sign of life may be older
    const std::vector<Ended> endings = endings_in(figures);
    const auto who = std::find_if(endings.begin(), endings.end(),
                                  [](const Ended& each) { return gave_up(each.first->state); });
    if (who != endings.end() &&
        *who->first->last_alive_ns < *endings.front().first->last_alive_ns + at_once_ns) {
      return advice_on_who_gave_up(who->ranks);
    }
    return figures.is_running
               ? ""
               : "no rank waited for one that was not there: look at what the job wrote to stderr.";
  }
  const StandstillFigures& first = figures.standstills.front();
  if (first.kind == StandstillFigures::Kind::mismatched_collectives) {
    return "all ranks of a communicator must call the same collectives in the same order: compare what leads "
           "to "
           "these calls.";
  }
  const UnfinishedRankFigures& rank = rank_in(figures, first.ranks.back());
  if (first.kind == StandstillFigures::Kind::cycle) {
    const auto all_in = [&](std::string_view part) {
      return std::all_of(first.ranks.begin(), first.ranks.end(), [&](std::int32_t each) {
        return function_of(rank_in(figures, each)).find(part) != std::string::npos;
      });
    };
    return all_in("ecv")
               ? "one of them must send before it receives: look for the send that should have come first, "
                 "and for its rank, tag and communicator."
           : all_in("end")
               ? "a send may wait until its receive is posted: post receives first (MPI_Irecv), or use "
                 "MPI_Sendrecv."
               : "compare the order in which these ranks send, receive and call collectives.";
  }
  const std::string debugger =
      figures.is_running && rank.state == RankEnd::running && rank.process_id != 0
          ? fmt::format(" On {}: gdb -p {} -batch -ex 'thread apply all bt'.", rank.host, rank.process_id)
          : "";
  switch (rank.state) {
    case RankEnd::missing:
      return fmt::format("find out whether rank {} came out of MPI_Init, and where it wrote its recording.",
                         rank.rank);
    case RankEnd::finished:
      return fmt::format("compare what rank {} sends with what the others receive: it ended without it.",
                         rank.rank);
    case RankEnd::killed:
      return fmt::format(
          "look at what rank {} does {}: its error output, its core file, the memory of its host.", rank.rank,
          rank.calls.empty() ? "behind that call" : "in that call");
    case RankEnd::aborted:
    case RankEnd::exited:
      return advice_on_who_gave_up({rank.rank});
    default:
      return rank.calls.empty()
                 ? fmt::format(
                       "look at what rank {} does behind that call: host code, or it waits for its GPU.{}",
                       rank.rank, debugger)
                 : fmt::format("look at what rank {} waits for in that call.{}", rank.rank, debugger);
  }
}

}  // namespace penstock::analysis
