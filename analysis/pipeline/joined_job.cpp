#include "analysis/pipeline/joined_job.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "analysis/joining/needed_facts.hpp"
#include "analysis/joining/rank_facts.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/sharing/archive.hpp"
#include "analysis/sharing/parallel.hpp"
#include "analysis/sharing/teamwork.hpp"

namespace penstock::analysis {
namespace {

/// One rank, as others need it.
struct JoiningRank {
  RankFacts facts;
  RankSteps steps;
  RankVote vote;
  StringPool strings;
  SiteTable sites{strings};

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(facts, steps, vote, strings, sites);
  }
};

/// The private data of a thread.
struct Joiner {
  RankTrace trace;
  std::unique_ptr<JoiningRank> rank;

  void read(const Job& job, std::size_t position) {
    load_rank(job.files[position], trace, LoadOf::what_others_need, job.known[position]);
    rank = std::make_unique<JoiningRank>();
    rank->facts = facts_of(trace);
    rank->steps = possible_steps(trace, rank->sites);
    rank->vote = {trace.header.world_rank, trace.used_gpu(), trace.has(trace::feature::kernels),
                  trace.header.dropped_records != 0 || trace.begins_late(), trace.header.features_note};
  }
};

void take_in(JoiningRank& rank, const std::optional<std::int32_t>& only_rank, JoinedJob& joined) {
  if (!only_rank || *only_rank == rank.vote.rank) {
    joined.counted.push_back(joined.index.rank_count());
    joined.vote.add(rank.vote);
  }
  joined.index.add(std::move(rank.facts));
  joined.steps.add(rank.steps, joined.sites.take_in(rank.sites, joined.strings.take_in(rank.strings)));
}

/// Serialises the next ranks for other members: at least one, and enough that sending takes longer than
/// synchronising all members.
std::vector<std::byte> next_piece(std::vector<std::unique_ptr<JoiningRank>>& ranks, std::size_t next) {
  constexpr std::size_t enough_bytes = std::size_t{4} << 20;
  Writer writer;
  for (; next < ranks.size() && writer.size() < enough_bytes; ++next) {
    writer(*ranks[next]);
    ranks[next].reset();
  }
  return writer.take();
}

/// Adds all ranks in order, each from the member that has read it, so that numbers are alike everywhere.
void take_in_shared(std::vector<std::unique_ptr<JoiningRank>> own_ranks,
                    const std::optional<std::int32_t>& only_rank, Team& team, JoinedJob& joined) {
  NeededFacts needed;
  for (const std::unique_ptr<JoiningRank>& each : own_ranks) {
    needed.add(each->facts);
  }
  needed.finish();
  for (std::size_t member = 0; member < team.size(); ++member) {
    const Share theirs = share_of(joined.job.files.size(), &team, member);
    for (std::size_t next = theirs.begin; next < theirs.end;) {
      std::vector<std::byte> bytes;
      if (member == team.own()) {
        bytes = next_piece(own_ranks, next - theirs.begin);
      }
      team.broadcast(member, bytes);
      for (Reader reader(bytes); !reader.is_at_end(); ++next) {
        JoiningRank rank;
        reader(rank);
        if (member != team.own()) {
          needed.keep_in(rank.facts);
        }
        take_in(rank, only_rank, joined);
      }
    }
  }
}

}  // namespace

void MeasureVote::add(const RankVote& rank) {
  any_is_missing_ = any_is_missing_ || rank.lacks_records;
  if (!rank.used_gpu) {
    return;
  }
  any_gpu_ = true;
  if (!rank.has_kernels && why_not_.empty()) {
    why_not_ = fmt::format("GPU kernels of rank {} were not recorded{}{}", rank.rank,
                           rank.note.empty() ? "" : ": ", rank.note);
  }
}

MeasureChoice MeasureVote::choice() const {
  if (!any_gpu_) {
    return {Measure::communication_time, any_is_missing_
                                             ? "no use of a GPU is recorded, but records are missing"
                                             : "the program used no GPU"};
  }
  return {why_not_.empty() ? Measure::exposed_communication : Measure::communication_time, why_not_};
}

void join_ranks(const std::optional<std::int32_t>& only_rank, unsigned threads, Team* team, Meter& meter,
                JoinedJob& joined) {
  const std::vector<std::filesystem::path>& files = joined.job.files;
  const Share own = own_share(files.size(), team);
  std::vector<Joiner> joiners(threads);
  std::vector<std::unique_ptr<JoiningRank>> own_ranks;  // of a team
  meter.advance(0, "reading");
  for_each_in_order(
      own.end - own.begin, threads,
      [&](std::size_t i, unsigned worker) { joiners[worker].read(joined.job, own.begin + i); },
      [&](std::size_t i, unsigned worker) {
        std::unique_ptr<JoiningRank>& rank = joiners[worker].rank;
        if (team == nullptr) {
          take_in(*rank, only_rank, joined);
        } else {
          own_ranks.push_back(std::move(rank));
        }
        meter.advance(Meter::records_in(files[own.begin + i]), "reading");
      });
  joiners.clear();
  if (team != nullptr) {
    take_in_shared(std::move(own_ranks), only_rank, *team, joined);
  }
  joined.index.join(threads, team);
}

void join_all_messages(unsigned threads, JoinedJob& joined) {
  joined.index = MessageIndex(joined.index.take_classes());
  const std::vector<std::filesystem::path>& files = joined.job.files;
  std::vector<RankTrace> traces(threads);
  std::vector<RankFacts> facts(threads);
  for_each_in_order(
      files.size(), threads,
      [&](std::size_t i, unsigned worker) {
        load_rank(files[i], traces[worker], LoadOf::what_others_need, joined.job.known[i]);
        facts[worker] = facts_of(traces[worker]);
      },
      [&](std::size_t, unsigned worker) { joined.index.add(std::move(facts[worker])); });
  joined.index.join(threads);
}

}  // namespace penstock::analysis
