#include "analysis/counting.hpp"

#include <functional>
#include <utility>
#include <vector>

#include "analysis/archive.hpp"
#include "analysis/parallel.hpp"
#include "analysis/rank_window.hpp"

namespace penstock::analysis {
namespace {

/// Sums with tables of their own.
struct Part {
  StringPool strings;
  SiteTable sites{strings};
  Metrics metrics;

  explicit Part(const Counting& counting)
      : metrics(counting.joined.index, counting.axis, strings, sites, counting.joined.vote.choice(),
                Metrics::Use::part) {}
};

/// What a thread has of its own.
struct Counter {
  RankWindow window;
  std::optional<Part> part;  ///< of one rank
};

using MergeRank = std::function<void(std::size_t i, Counter& counter)>;

/// Counts the ranks of a share; merge(i, counter) comes in the order of ranks.
void count_ranks(const Counting& counting, Share share, const MergeRank& merge) {
  const JoinedJob& joined = counting.joined;
  std::vector<Counter> counters(counting.threads);
  for_each_in_order(
      share.end - share.begin, counting.threads,
      [&](std::size_t i, unsigned worker) {
        auto& [window, part] = counters[worker];
        window.finder.reset();
        window.position = joined.counted[share.begin + i];
        load_rank(joined.job.files[window.position], window.rank);
        window.step_bounds = counting.mark ? step_bounds(window.rank, *counting.mark, joined.sites)
                                           : std::vector<std::uint64_t>{};
        part.emplace(counting);
        part->metrics.add(window);
      },
      [&](std::size_t i, unsigned worker) { merge(share.begin + i, counters[worker]); });
}

}  // namespace

void Counting::count(Metrics& whole, Meter& meter) const {
  const auto show = [&](std::size_t i) {
    meter.advance(Meter::records_in(joined.job.files[joined.counted[i]]), "counting");
  };
  const auto note = [&](const RankWindow& window) {
    if (visitor != nullptr) {
      visitor->note(window.rank, joined.index, window.step_bounds);
    }
  };
  const bool is_first = team == nullptr || team->own() == 0;
  Part ours(*this);
  Metrics& sums = is_first ? whole : ours.metrics;
  meter.advance(0, "counting");
  count_ranks(*this, own_share(joined.counted.size(), team), [&](std::size_t i, Counter& counter) {
    sums.merge(std::move(counter.part->metrics));
    if (team == nullptr) {
      note(counter.window);
    }
    show(i);
  });
  for (std::size_t member = 1; team != nullptr && member < team->size(); ++member) {
    std::vector<std::byte> bytes;
    if (team->own() == member) {
      Writer writer;
      writer(ours.metrics);
      bytes = writer.take();
    }
    team->send_to_first(member, bytes);
    if (is_first) {
      Part theirs(*this);
      Reader reader(bytes);
      reader(theirs.metrics);
      whole.merge(std::move(theirs.metrics));
    }
  }
  // What cannot be merged, the first one makes of all ranks, which takes their records once more: the graph,
  // now that it is known to be small enough, and what the visitor of a team has not seen.
  const bool can_replay = is_first && whole.can_replay();
  if (can_replay || (is_first && team != nullptr && visitor != nullptr)) {
    count_ranks(*this, {0, joined.counted.size()}, [&](std::size_t, Counter& counter) {
      if (can_replay) {
        whole.add_to_graph(counter.window, whole.sites_of(counter.part->metrics));
      }
      if (team != nullptr) {
        note(counter.window);
      }
    });
  }
}

}  // namespace penstock::analysis
