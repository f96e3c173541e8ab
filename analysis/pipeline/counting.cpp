#include "analysis/pipeline/counting.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "analysis/causes/rank_window.hpp"
#include "analysis/sharing/archive.hpp"
#include "analysis/sharing/parallel.hpp"
#include "analysis/sharing/teamwork.hpp"

namespace penstock::analysis {
namespace {

/// Sums with their own tables.
struct Part {
  StringPool strings;
  SiteTable sites{strings};
  Metrics metrics;

  explicit Part(const Counting& counting)
      : metrics(counting.context(strings, sites, FigureContext::Use::part)) {}
};

/// The private data of a thread.
struct Counter {
  RankWindow window;
  std::optional<Part> part;  ///< of one rank
};

using MergeRank = std::function<void(Counter& counter)>;

/// Counts the ranks at these positions and calls merge(counter) in their order.
void count_ranks(const Counting& counting, std::span<const std::size_t> positions, const MergeRank& merge) {
  const JoinedJob& joined = counting.joined;
  std::vector<Counter> counters(counting.threads);
  for_each_in_order(
      positions.size(), counting.threads,
      [&](std::size_t i, unsigned worker) {
        auto& [window, part] = counters[worker];
        window.finder.reset();
        window.position = positions[i];
        load_rank(joined.job.files[window.position], window.rank, LoadOf::all,
                  joined.job.known[window.position]);
        window.own_known = joined.job.own_known[window.position];
        window.step_bounds = counting.mark ? step_bounds(window.rank, *counting.mark, joined.sites)
                                           : std::vector<std::uint64_t>{};
        window.lacks_steps = counting.mark && window.step_bounds.empty();
        part.emplace(counting);
        part->metrics.add(window);
      },
      [&](std::size_t, unsigned worker) { merge(counters[worker]); });
}

/// Returns the counted ranks whose messages are in this member's index.
std::vector<std::size_t> own_positions(const Counting& counting) {
  const Share own = own_share(counting.joined.job.files.size(), counting.team);
  std::vector<std::size_t> positions;
  std::copy_if(counting.joined.counted.begin(), counting.joined.counted.end(), std::back_inserter(positions),
               [own](std::size_t position) { return own.has(position); });
  return positions;
}

void note(const Counting& counting, const RankWindow& window) {
  if (counting.visitor != nullptr) {
    counting.visitor->note(window.rank, counting.joined.index, window.step_bounds);
  }
}

}  // namespace

void Counting::count(Metrics& whole, Meter& meter) const {
  const bool is_first = team == nullptr || team->own() == 0;
  Part ours(*this);
  if (!is_first) ours.metrics.join_alike_sites(skip, kept);
  Metrics& sums = is_first ? whole : ours.metrics;
  meter.advance(0, "counting");
  count_ranks(*this, own_positions(*this), [&](Counter& counter) {
    sums.merge(std::move(counter.part->metrics));
    if (team == nullptr) {
      note(*this, counter.window);
    }
    meter.advance(Meter::records_in(joined.job.files[counter.window.position]), "counting");
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
}

bool Counting::needs_all_ranks(Metrics& whole) const {
  return whole.replay().can_replay() || (team != nullptr && visitor != nullptr);
}

void Counting::show_all_ranks(Metrics& whole) const {
  ReplayFigure& replay = whole.replay();
  const bool can_replay = replay.can_replay();
  count_ranks(*this, joined.counted, [&](Counter& counter) {
    if (can_replay) {
      replay.add_to_graph(counter.window, whole.sites_of(counter.part->metrics));
    }
    if (team != nullptr) {
      note(*this, counter.window);
    }
  });
}

}  // namespace penstock::analysis
