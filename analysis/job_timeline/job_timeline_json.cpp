// Writes the document of a timeline: the second half of JobTimeline.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/job_timeline/columns.hpp"
#include "analysis/job_timeline/job_timeline.hpp"

namespace penstock::analysis::job_timeline {
namespace {

using Json = nlohmann::ordered_json;

Json of(Interval when) {
  return {when.begin_ns, when.end_ns};
}

/// Returns the time from the first step to the end of the last. Steps are sorted.
Json all_of(const std::vector<Interval>& steps) {
  return steps.empty() ? Json(nullptr) : of(Interval{steps.front().begin_ns, steps.back().end_ns});
}

Json of(const TrackColumns& track, std::uint64_t shortest_ns) {
  Json states = Json::array();
  for (const State each : track.states) {
    states.push_back(static_cast<std::size_t>(each));
  }
  return {{"kind", track.kind},         {"name", track.name},          {"fields", track.fields},
          {"shortest_ns", shortest_ns}, {"pieces", track.pieces},      {"data", track.data},
          {"bins", track.bins},         {"states", std::move(states)}, {"shares", track.shares}};
}

/// Writes a row's bins: kernels and waits as shares of its ranks' time, and the main cause of waiting.
void write_row(const Shares& row, float ranks, ByteWriter& out) {
  for (std::size_t bin = 0; bin < row.bins(); ++bin) {
    out.byte(byte_of(row.share(bin, cause_count + 1) / ranks));
  }
  for (std::size_t bin = 0; bin < row.bins(); ++bin) {
    float waited = 0;
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      waited += row.share(bin, cause);
    }
    out.byte(byte_of(waited / ranks));
  }
  for (std::size_t bin = 0; bin < row.bins(); ++bin) {
    std::size_t main_cause = 0;
    for (std::size_t cause = 1; cause < cause_count; ++cause) {
      if (row.share(bin, cause) > row.share(bin, main_cause)) {
        main_cause = cause;
      }
    }
    out.byte(static_cast<std::uint8_t>(main_cause));
  }
}

}  // namespace

std::string JobTimeline::json() const {
  Json states = Json::array();
  for (std::size_t state = 0; state < state_count; ++state) {
    states.push_back(identifier_of(static_cast<State>(state)));
  }
  Json windows = Json::array();
  for (const Window& each : windows_) {
    windows.push_back({{"when_ns", of(each.when)}, {"why", each.why}});
  }
  Json ranks = Json::array();
  for (const RankColumns& each : ranks_) {
    Json detail = Json::array();
    for (const Interval& window : each.detail.windows) {
      detail.push_back(of(window));
    }
    Json tracks = Json::array();
    for (std::size_t i = 0; i < each.tracks.size(); ++i) {
      tracks.push_back(of(each.tracks[i], each.detail.shortest_ns[i]));
    }
    const auto why = chosen_.find(each.rank);
    ranks.push_back({{"rank", each.rank},
                     {"why", why == chosen_.end() || why->second.empty() ? Json(nullptr) : Json(why->second)},
                     {"run_ns", of(Interval{each.begin_ns, each.end_ns})},
                     {"detail_ns", std::move(detail)},
                     {"tracks_left_out", each.tracks_left_out},
                     {"tracks", std::move(tracks)}});
  }
  std::vector<Message> messages = messages_;
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Message& left, const Message& right) { return left.post_ns < right.post_ns; });
  ByteWriter columns;
  std::uint64_t before_ns = 0;
  for (const Message& each : messages) {
    columns.integer(each.post_ns - before_ns);
    before_ns = each.post_ns;
    // an inaccurate clock may show that a message arrives before it is sent
    columns.integer(each.complete_ns - std::min(each.complete_ns, each.post_ns));
    columns.integer(static_cast<std::uint64_t>(each.sender));
    columns.integer(static_cast<std::uint64_t>(each.receiver));
    columns.integer(each.track);
    columns.integer(
        std::min(each.bytes, (std::uint64_t{1} << 53) - 1));  // the largest integer of the page's numbers
  }
  Json others = nullptr;
  if (others_) {
    ByteWriter rows;
    for (std::size_t row = 0; row < others_->rows.size(); ++row) {
      const std::size_t first = row * others_->ranks_per_row;
      const std::size_t count = std::min(others_->ranks_per_row, others_->ranks.size() - first);
      write_row(others_->rows[row], static_cast<float>(count), rows);
    }
    others = {{"ranks", others_->ranks},
              {"ranks_per_row", others_->ranks_per_row},
              {"bins", others_->rows.front().bins()},
              {"data", base64(rows.bytes())}};
  }
  const Json document{
      {"schema", "penstock-timeline-1"},
      {"run_ns", run_ns_},
      {"steps_ns", all_of(steps_)},
      {"states", std::move(states)},
      {"texts", texts_.all()},
      {"windows", std::move(windows)},
      {"ranks", std::move(ranks)},
      {"others", std::move(others)},
      {"messages",
       {{"count", messages.size()}, {"left_out", messages_left_out_}, {"data", base64(columns.bytes())}}}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace penstock::analysis::job_timeline
