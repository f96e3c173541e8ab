#include "analysis/job_timeline/job_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>

#include "analysis/export/common/names.hpp"
#include "analysis/job_timeline/columns.hpp"
#include "analysis/job_timeline/piece_columns.hpp"

namespace penstock::analysis::job_timeline {
namespace {

/// The largest number of tracks per rank, more than anybody compares. Tracks with the fewest pieces are left
/// out, threads last.
constexpr std::size_t most_tracks = 24;
constexpr std::size_t most_bins = 8192;
constexpr std::size_t least_bins = 64;
/// First estimate of a piece's size in the document.
constexpr std::size_t piece_characters = 12;

/// States of the shares of ranks without tracks: the causes by number, hidden waits, kernels.
constexpr std::size_t hidden_share = cause_count;
constexpr std::size_t kernel_share = cause_count + 1;
constexpr std::size_t other_states = cause_count + 2;

std::string_view name_of(exports::TrackKind kind) {
  switch (kind) {
    case exports::TrackKind::thread:
      return "thread";
    case exports::TrackKind::ranges:
      return "ranges";
    case exports::TrackKind::operations:
      return "operations";
    case exports::TrackKind::transfers:
      return "transfers";
    case exports::TrackKind::synchronisation:
      return "synchronisation";
    case exports::TrackKind::stream:
      break;
  }
  return "stream";
}

std::vector<State> states_of(exports::TrackKind kind) {
  switch (kind) {
    case exports::TrackKind::thread:
      return {State::waiting_call, State::other_call, State::range};
    case exports::TrackKind::ranges:
      return {State::range, State::waiting_call, State::other_call};
    case exports::TrackKind::operations:
      return {State::operation};
    case exports::TrackKind::transfers:
      return {State::transfer};
    case exports::TrackKind::synchronisation:
      return {State::synchronisation};
    case exports::TrackKind::stream:
      break;
  }
  return {State::kernel, State::copy, State::others_kernel};
}

std::vector<State> states_of_waits() {
  std::vector<State> states;
  for (std::size_t state = 0; state <= static_cast<std::size_t>(State::hidden); ++state) {
    states.push_back(static_cast<State>(state));
  }
  return states;
}

/// Returns a power of two, so that bins can be joined two by two.
std::size_t bins_for(std::size_t most_bytes, std::size_t bytes_a_bin) {
  return std::clamp(std::bit_floor(most_bytes / std::max<std::size_t>(bytes_a_bin, 1)), least_bins,
                    most_bins);
}

/// Base64 has four characters for three bytes.
constexpr std::size_t bytes_of(std::size_t characters) {
  return characters / 4 * 3;
}

void add_wait(const Wait& wait, Shares& shares) {
  const std::uint64_t length_ns = wait.end_ns - wait.begin_ns;
  const float exposed =
      length_ns == 0 ? 0 : static_cast<float>(wait.exposed_ns) / static_cast<float>(length_ns);
  if (exposed > 0) {
    shares.add(wait.begin_ns, wait.end_ns, static_cast<std::size_t>(wait.cause), exposed);
  }
  if (exposed < 1) {
    shares.add(wait.begin_ns, wait.end_ns, hidden_share, 1 - exposed);
  }
}

/// Adds up a track's slices. Outer and inner slices have different states; of nested ranges only the outer
/// one counts.
Shares shares_of(const RankTrace& rank, const exports::Track& track, const std::vector<State>& states,
                 std::uint64_t run_ns, std::size_t bins) {
  Shares shares(run_ns, bins, states.size());
  std::uint64_t in_range_until_ns = 0;
  for (const exports::Slice& slice : track.slices) {
    const State state = state_of(rank, slice);
    const auto found = std::find(states.begin(), states.end(), state);
    if (found == states.end() || (state == State::range && slice.end_ns <= in_range_until_ns)) {
      continue;
    }
    if (state == State::range) {
      in_range_until_ns = slice.end_ns;
    }
    shares.add(slice.begin_ns, slice.end_ns, static_cast<std::size_t>(found - states.begin()));
  }
  return shares;
}

}  // namespace

JobTimeline::JobTimeline(Budget budget, const SkipPatterns& skip)
    : budget_(budget), texts_(budget.texts), skip_(skip) {}

void JobTimeline::note(const RankTrace& rank, const MessageIndex& index,
                       std::span<const std::uint64_t> step_bounds) {
  if (!axis_) {
    axis_.emplace(index);
    run_ns_ = std::max<std::uint64_t>(axis_->length_ns(), 1);
  }
  const HostAxis& axis = axis_->of(index.host_of(rank));
  for (std::size_t i = 0; i + 1 < step_bounds.size(); ++i) {
    const Interval step{axis.at(step_bounds[i]), axis.at(step_bounds[i + 1])};
    if (i == steps_.size()) {
      steps_.push_back(step);
    } else {
      steps_[i] = {std::min(steps_[i].begin_ns, step.begin_ns), std::max(steps_[i].end_ns, step.end_ns)};
    }
  }
}

void JobTimeline::begin(const Report& report, const MessageIndex&, KeptNames& kept) {
  frame_names_.emplace(skip_, &kept);
  chosen_ = chosen_ranks(report);
  windows_ = chosen_windows(report, steps_, run_ns_);
  if (chosen_.size() == report.ranks.size()) {
    return;
  }
  constexpr std::size_t most_rows = 2048;
  Others others{};
  for (const RankFigures& each : report.ranks) {
    if (!chosen_.contains(each.rank)) {
      others.ranks.push_back(each.rank);
    }
  }
  others.ranks_per_row = (others.ranks.size() - 1) / most_rows + 1;
  const std::size_t rows = (others.ranks.size() - 1) / others.ranks_per_row + 1;
  constexpr std::size_t columns = 3;
  const std::size_t bins = bins_for(bytes_of(budget_.other_ranks), rows * columns);
  others.rows.assign(rows, Shares(run_ns_, bins, other_states));
  for (std::size_t i = 0; i < others.ranks.size(); ++i) {
    others.row_of[others.ranks[i]] = i / others.ranks_per_row;
  }
  others_ = std::move(others);
}

void JobTimeline::add_other(const RankTrace& rank, std::size_t position, const MessageIndex& index) {
  const auto row = others_->row_of.find(rank.header.world_rank);
  if (row == others_->row_of.end()) {
    return;
  }
  Shares& shares = others_->rows[row->second];
  const HostAxis& axis = axis_->of(index.host_of(rank));
  const Timeline timeline = make_timeline(rank);
  for (const Wait& wait : waits_of(rank, timeline, position, index, axis)) {
    add_wait(wait, shares);
  }
  for (const Interval& each : timeline.kernels.intervals()) {
    shares.add(axis.at(each.begin_ns), axis.at(each.end_ns), kernel_share);
  }
}

void JobTimeline::visit(const RankTrace& rank, std::size_t position, const MessageIndex& index) {
  if (!chosen_.contains(rank.header.world_rank)) {
    if (others_) {
      add_other(rank, position, index);
    }
    return;
  }
  const HostAxis& axis = axis_->of(index.host_of(rank));
  RankTracks tracks = tracks_of(rank, position, index, axis);
  RankColumns columns{rank.header.world_rank, axis.at(rank.begin_ns), axis.at(rank.end_ns), {}, 0, {}};
  while (tracks.tracks.size() > most_tracks) {
    const auto fewest =
        std::min_element(tracks.tracks.begin(), tracks.tracks.end(),
                         [](const exports::Track& left, const exports::Track& right) {
                           const auto worth = [](const exports::Track& track) {
                             return std::pair(track.kind == exports::TrackKind::thread, track.slices.size());
                           };
                           return worth(left) < worth(right);
                         });
    tracks.tracks.erase(fewest);
    ++columns.tracks_left_out;
  }
  columns.tracks.push_back({"waits", "waits, by cause", {}, states_of_waits(), 0, "", 0, ""});
  for (const exports::Track& track : tracks.tracks) {
    columns.tracks.push_back(
        {std::string(name_of(track.kind)),
         track.beside == 0 ? track.name : fmt::format("{} ({})", track.name, track.beside + 1),
         {},
         states_of(track.kind),
         0,
         "",
         0,
         ""});
  }

  // the real size of pieces is known only after writing them
  exports::RankNames names(rank, *frame_names_);
  const std::size_t most_characters = budget_.pieces / chosen_.size();
  std::size_t most_pieces = most_characters / piece_characters;
  for (;;) {
    columns.detail = choose_detail(tracks, windows_, run_ns_, most_pieces);
    write_pieces(tracks.waits, columns.detail, columns.tracks[0]);
    std::size_t characters = columns.tracks[0].data.size();
    for (std::size_t i = 0; i < tracks.tracks.size(); ++i) {
      write_pieces(rank, tracks.tracks[i], i + 1, columns.detail, names, texts_, columns.tracks[i + 1]);
      characters += columns.tracks[i + 1].data.size();
    }
    if (characters <= most_characters || most_pieces == 0) {
      break;
    }
    most_pieces = std::min(most_pieces, pieces_in(tracks)) * most_characters / characters * 9 / 10;
  }
  if (!columns.detail.has_all()) {
    add_shares(rank, tracks, columns);
  }
  add_messages(rank, position, index, tracks, columns.detail);
  ranks_.push_back(std::move(columns));
}

/// Adds shares to the tracks that lack pieces.
void JobTimeline::add_shares(const RankTrace& rank, const RankTracks& tracks, RankColumns& columns) const {
  const auto needs_them = [&](std::size_t track) { return columns.detail.shortest_ns[track] != 0; };
  std::size_t bytes_a_bin = 0;
  for (std::size_t i = 0; i < columns.tracks.size(); ++i) {
    bytes_a_bin += needs_them(i) ? columns.tracks[i].states.size() : 0;
  }
  const std::size_t bins = bins_for(bytes_of(budget_.shares) / chosen_.size(), bytes_a_bin);
  const auto give = [&](TrackColumns& track, const Shares& shares) {
    track.bins = bins;
    track.shares = base64(shares.bytes());
  };
  if (needs_them(0)) {
    Shares waits(run_ns_, bins, columns.tracks[0].states.size());
    for (const Wait& each : tracks.waits) {
      add_wait(each, waits);
    }
    give(columns.tracks[0], waits);
  }
  for (std::size_t i = 1; i < columns.tracks.size(); ++i) {
    if (needs_them(i)) {
      give(columns.tracks[i], shares_of(rank, tracks.tracks[i - 1], columns.tracks[i].states, run_ns_, bins));
    }
  }
}

/// Adds the messages that the rank received, if both sides are in detail; the windows first, by importance,
/// then the largest.
void JobTimeline::add_messages(const RankTrace& rank, std::size_t position, const MessageIndex& index,
                               const RankTracks& tracks, const Detail& detail) {
  struct Candidate {
    std::size_t window;
    Message message;
  };
  std::vector<Candidate> found;
  std::uint32_t number = 1;  // the waits are track 0
  for (const exports::Track& track : tracks.tracks) {
    for (const exports::MessageEnd& end : track.ends) {
      const trace::MessageHalf& half = rank.halves[end.half].record;
      const std::optional<KnownHalf> sender = end.is_post || half.direction != trace::Direction::receive
                                                  ? std::nullopt
                                                  : index.partner_of(rank, position, end.half);
      if (!sender || !chosen_.contains(sender->rank)) {
        continue;
      }
      const Message message{sender->rank,
                            rank.header.world_rank,
                            axis_->of(sender->host).at(sender->post_ns),
                            end.at_ns,
                            half.bytes,
                            number};
      const auto window =
          std::find_if(detail.windows.begin(), detail.windows.end(), [&](const Interval& each) {
            return message.post_ns < each.end_ns && message.complete_ns > each.begin_ns;
          });
      found.push_back({static_cast<std::size_t>(window - detail.windows.begin()), message});
    }
    ++number;
  }
  const std::size_t most = budget_.messages / chosen_.size();
  if (found.size() > most) {
    std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(most), found.end(),
                     [](const Candidate& left, const Candidate& right) {
                       return std::tie(left.window, right.message.bytes, left.message.complete_ns) <
                              std::tie(right.window, left.message.bytes, right.message.complete_ns);
                     });
    messages_left_out_ += found.size() - most;
    found.resize(most);
  }
  for (const Candidate& each : found) {
    messages_.push_back(each.message);
  }
}

}  // namespace penstock::analysis::job_timeline
