#include "analysis/unfinished/unfinished.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/naming/site_names.hpp"
#include "analysis/recording/liveness.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/recording/trace_reader.hpp"
#include "analysis/tables/string_pool.hpp"
#include "analysis/unfinished/mismatched_collectives.hpp"
#include "analysis/unfinished/rank_state.hpp"
#include "analysis/unfinished/unfinished_words.hpp"
#include "analysis/unfinished/wait_graph.hpp"
#include "analysis/unfinished/waiting.hpp"

namespace penstock::analysis {
namespace {

bool has_finished(const trace::FileHeader& header) {
  return header.ended_by == trace::Ending::finalize ||
         (header.ended_by == trace::Ending::none && header.end_ns > header.begin_ns);
}

RankEnd end_of(const trace::FileHeader& header) {
  if (has_finished(header)) {
    return RankEnd::finished;
  }
  switch (header.ended_by) {
    case trace::Ending::abort:
      return RankEnd::aborted;
    case trace::Ending::exit:
      return RankEnd::exited;
    default:
      return is_running(header) ? RankEnd::running : RankEnd::killed;
  }
}

bool all_have_finished(const Job& job) {
  return std::all_of(job.files.begin(), job.files.end(),
                     [](const auto& file) { return has_finished(TraceReader(file).header()); });
}

/// One look at a job.
class Look {
 public:
  Look(const Job& job, const LookOptions& options)
      : job_(job), names_(texts_, sites_, options.skip, options.kept) {
    read_all(options);
  }

  [[nodiscard]] UnfinishedFigures figures() {
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      describe(static_cast<std::int32_t>(rank));
    }
    figures_.words = headline_of(figures_);
    add_mismatches();
    add_paths();
    figures_.next = advice_on(figures_);
    figures_.flaws = flaws_of_other_builds(names_.modules());
    return std::move(figures_);
  }

 private:
  /// Reads all ranks, and then once more what they are in: what is the same at both times stood still from
  /// the last of the first readings to the first of the second ones, on all ranks at once.
  void read_all(const LookOptions& options) {
    const std::uint64_t share = options.most_bytes / std::max<std::size_t>(1, job_.files.size());
    for (const std::filesystem::path& file : job_.files) {
      try {
        RankState state = read_rank_state(file, share, texts_, sites_, members_);
        const std::int32_t rank = state.header.world_rank;
        began_realtime_ns_ =
            std::min(began_realtime_ns_, state.header.begin_ns + state.header.realtime_offset_ns);
        if (rank < most_ranks) {
          states_.resize(std::max<std::size_t>(states_.size(), static_cast<std::size_t>(rank) + 1));
          states_[static_cast<std::size_t>(rank)] = std::move(state);
        }
      } catch (const TraceError&) {  // replaced since the job was found; the rank is missing
      }
    }
    // a damaged header may claim any number of ranks; of those without a file not too many are listed
    const std::size_t size =
        std::min(static_cast<std::size_t>(job_.world_size), 1024 + 64 * job_.files.size());
    states_.resize(std::max(states_.size(), size));
    figures_.ranks.resize(states_.size());
    for (const std::filesystem::path& file : job_.files) {
      try {
        look_again(TraceReader(file));
      } catch (const TraceError&) {
      }
    }
  }

  void look_again(const TraceReader& reader) {
    const std::int32_t rank = reader.header().world_rank;
    if (rank >= most_ranks || static_cast<std::size_t>(rank) >= states_.size()) {
      return;
    }
    RankState& state = states_[static_cast<std::size_t>(rank)];
    state.header = reader.header();
    const std::vector<trace::OpenCall> now = reader.open_calls();
    const auto are_same = [](const trace::OpenCall& one, const trace::OpenCall& other) {
      return one.thread_id == other.thread_id && one.call.begin_ns == other.call.begin_ns;
    };
    const bool has_ended =
        std::any_of(state.calls.begin(), state.calls.end(), [&](const CallInProgress& call) {
          return std::none_of(now.begin(), now.end(),
                              [&](const trace::OpenCall& each) { return are_same(each, call.open); });
        });
    const bool has_begun = std::any_of(now.begin(), now.end(), [&](const trace::OpenCall& each) {
      return each.call.begin_ns > state.last_record_ns &&
             std::none_of(state.calls.begin(), state.calls.end(),
                          [&](const CallInProgress& call) { return are_same(each, call.open); });
    });
    figures_.ranks[static_cast<std::size_t>(rank)].moves = has_ended || has_begun;
  }

  [[nodiscard]] std::uint64_t time_of(const RankState& state, std::uint64_t time_ns) const {
    const std::uint64_t realtime_ns = time_ns + state.header.realtime_offset_ns;
    return realtime_ns > began_realtime_ns_ ? realtime_ns - began_realtime_ns_ : 0;
  }

  void describe(std::int32_t rank) {
    const RankState& state = states_[static_cast<std::size_t>(rank)];
    UnfinishedRankFigures& of = figures_.ranks[static_cast<std::size_t>(rank)];
    of.rank = rank;
    if (!state.has_recording) {
      return;
    }
    of.host = state.header.host_name;
    of.process_id = state.header.process_id;
    of.state = end_of(state.header);
    of.abort_code = state.header.abort_code;
    std::uint64_t alive_ns = std::max({state.header.alive_ns, state.last_record_ns, state.header.end_ns});
    for (const CallInProgress& each : state.calls) {
      alive_ns = std::max(alive_ns, each.open.call.begin_ns);
    }
    of.last_alive_ns = time_of(state, alive_ns);
    of.calls_known = state.header.open_call_slots != 0;
    of.threads_unnoticed = state.header.threads_unnoticed;
    if (of.state == RankEnd::running) {
      figures_.is_running = true;
      figures_.looked_at_realtime_ns = realtime_now_ns();
    }
    figures_.is_whole = figures_.is_whole && state.is_whole;
    if (state.last_call_end_ns != 0) {
      of.last_call = names_.call_of(state.last_call_site);
      of.last_call_end_ns = time_of(state, state.last_call_end_ns);
    }
    if (of.state != RankEnd::finished) {
      for (const CallInProgress& call : state.calls) {
        add_call(of, state, call);
      }
    }
  }

  void add_call(UnfinishedRankFigures& of, const RankState& state, const CallInProgress& call) {
    Need need = waiting_.need_of(of.rank, call);
    of.calls.push_back({names_.call_of(call.site), subject_of(of.rank, call),
                        time_of(state, call.open.call.begin_ns), std::move(need.ranks), need.any_is_enough});
  }

  /// Says what a call is about: those of its operations that wait for somebody, else all of them.
  [[nodiscard]] std::string subject_of(std::int32_t rank, const CallInProgress& call) const {
    constexpr std::size_t looked_at = 1024;
    std::vector<PendingOperation> waiting;
    for (std::size_t i = 0; i < std::min(looked_at, call.operations.size()); ++i) {
      if (!waiting_.need_of(rank, call.operations[i]).ranks.empty()) {
        waiting.push_back(call.operations[i]);
      }
    }
    const std::vector<PendingOperation>& told = waiting.empty() ? call.operations : waiting;
    constexpr std::size_t shown = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, told.size()); ++i) {
      const std::string one = subject_of(told[i]);
      text += (text.empty() || one.empty() ? "" : "; ") + one;
    }
    return told.size() > shown ? fmt::format("{} and {} more", text, told.size() - shown) : text;
  }
  [[nodiscard]] static std::string subject_of(const PendingOperation& operation) {
    if (operation.kind == PendingOperation::Kind::collective) {
      return operation.peer >= 0 ? fmt::format("root {}", operation.peer) : "";
    }
    if (operation.kind == PendingOperation::Kind::window) {
      return operation.peer >= 0 ? fmt::format("for rank {}", operation.peer) : "";
    }
    const char* const preposition = operation.kind == PendingOperation::Kind::send ? "to" : "from";
    const std::string who = operation.peer == any_peer ? "any rank" : fmt::format("rank {}", operation.peer);
    return fmt::format("{} {}, {}", preposition, who,
                       operation.tag == any_tag ? "any tag" : fmt::format("tag {}", operation.tag));
  }

  void add_mismatches() {
    for (const MismatchedCollective& each : find_mismatched_collectives(states_)) {
      StandstillFigures figures{
          .kind = StandstillFigures::Kind::mismatched_collectives, .ranks = {}, .words = {}};
      std::string words;
      for (const MismatchedCollective::Group& group : each.groups) {
        figures.ranks.push_back(group.ranks.front());
        words += fmt::format("{}{} called {}", words.empty() ? "" : ", but ", ranks_text(group.ranks),
                             names_.call_of(group.site));
      }
      figures.words = fmt::format("Different collectives on one communicator, as its {}{}: {}.", each.ordinal,
                                  ordinal_ending(each.ordinal), words);
      figures_.standstills.push_back(std::move(figures));
    }
  }
  [[nodiscard]] static const char* ordinal_ending(std::uint32_t number) {
    const std::uint32_t last = number % 10;
    return number % 100 / 10 == 1 || last == 0 || last > 3 ? "th"
           : last == 1                                     ? "st"
           : last == 2                                     ? "nd"
                                                           : "rd";
  }

  void add_paths() {
    std::vector<std::vector<Need>> needs(states_.size());
    for (std::size_t rank = 0; rank < states_.size(); ++rank) {
      if (figures_.ranks[rank].moves) {
        continue;
      }
      for (const OpenCallFigures& call : figures_.ranks[rank].calls) {
        needs[rank].push_back({call.waits_for, call.waits_for_any});
      }
    }
    constexpr std::size_t shown = 8;
    WaitPaths paths = find_wait_paths(needs);
    // a rank that is in a call may wait for somebody, though nobody knows for whom
    std::stable_partition(paths.chains.begin(), paths.chains.end(), [this](const WaitPath& chain) {
      return figures_.ranks[static_cast<std::size_t>(chain.ranks.back())].calls.empty();
    });
    for (std::size_t i = 0; i < std::min(shown, paths.cycles.size()); ++i) {
      StandstillFigures cycle{StandstillFigures::Kind::cycle, paths.cycles[i].ranks,
                              paths.cycles[i].waiting_ranks, ""};
      cycle.words = words_of_cycle(figures_, cycle);
      figures_.standstills.push_back(std::move(cycle));
    }
    for (std::size_t i = 0; i < std::min(shown, paths.chains.size()); ++i) {
      StandstillFigures chain{StandstillFigures::Kind::chain, paths.chains[i].ranks,
                              paths.chains[i].waiting_ranks, ""};
      chain.words = words_of_chain(figures_, chain);
      figures_.standstills.push_back(std::move(chain));
    }
  }

  const Job& job_;
  StringPool texts_;
  SiteTable sites_{texts_};
  SiteNames names_;
  std::vector<RankState> states_;
  Members members_;
  Waiting waiting_{states_, members_};
  std::uint64_t began_realtime_ns_ = ~std::uint64_t{0};
  UnfinishedFigures figures_;
};

}  // namespace

std::optional<UnfinishedFigures> look_at_unfinished(const Job& job, const LookOptions& options) {
  if (all_have_finished(job)) {
    return std::nullopt;
  }
  return Look(job, options).figures();
}

}  // namespace penstock::analysis
