#include "analysis/joined_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/archive.hpp"
#include "analysis/parallel.hpp"
#include "analysis/rank_facts.hpp"
#include "analysis/rank_trace.hpp"

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

/// What a thread has of its own.
struct Joiner {
  RankTrace trace;
  std::optional<JoiningRank> rank;

  void read(const std::filesystem::path& file) {
    load_rank(file, trace, LoadOf::what_others_need);
    rank.emplace();
    rank->facts = facts_of(trace);
    rank->steps = possible_steps(trace, rank->sites);
    rank->vote = {trace.header.world_rank, trace.used_gpu(), trace.has(trace::feature::kernels),
                  trace.header.features_note};
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

}  // namespace

void MeasureVote::add(const RankVote& rank) {
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
    return {Measure::communication_time, "the program used no GPU"};
  }
  return {why_not_.empty() ? Measure::exposed_communication : Measure::communication_time, why_not_};
}

Share share_of(std::size_t items, const Team* team, std::size_t member) {
  const std::size_t members = team == nullptr ? 1 : team->size();
  const std::size_t each = items / members;
  const std::size_t with_one_more = items % members;
  const std::size_t begin = member * each + std::min(member, with_one_more);
  return {begin, begin + each + (member < with_one_more ? 1 : 0)};
}

void join_ranks(const std::optional<std::int32_t>& only_rank, unsigned threads, Team* team, Meter& meter,
                JoinedJob& joined) {
  const std::vector<std::filesystem::path>& files = joined.job.files;
  const Share own = own_share(files.size(), team);
  std::vector<Joiner> joiners(threads);
  Writer for_others;
  meter.advance(0, "reading");
  for_each_in_order(
      own.end - own.begin, threads,
      [&](std::size_t i, unsigned worker) { joiners[worker].read(files[own.begin + i]); },
      [&](std::size_t i, unsigned worker) {
        JoiningRank& rank = *joiners[worker].rank;
        if (team == nullptr) {
          take_in(rank, only_rank, joined);
        } else {
          for_others(rank);
        }
        meter.advance(Meter::records_in(files[own.begin + i]), "reading");
      });
  for (std::size_t member = 0; team != nullptr && member < team->size(); ++member) {
    std::vector<std::byte> bytes = member == team->own() ? for_others.take() : std::vector<std::byte>{};
    team->broadcast(member, bytes);
    for (Reader reader(bytes); !reader.is_at_end();) {
      JoiningRank rank;
      reader(rank);
      take_in(rank, only_rank, joined);
    }
  }
  joined.index.join(threads);
}

}  // namespace penstock::analysis
