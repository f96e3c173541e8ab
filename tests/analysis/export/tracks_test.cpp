#include "analysis/export/common/tracks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis::exports {
namespace {

using testing::origin_ns;
using testing::RecordingBuilder;

class Tracks : public ::testing::Test {
 protected:
  void load(const RecordingBuilder& builder) { rank_ = load_rank(builder.write(directory_.path())); }
  [[nodiscard]] Track track(const std::string& name) const {
    for (Track& each : lay_out(rank_)) {
      if (each.name == name) return each;
    }
    ADD_FAILURE() << "no track " << name;
    return {};
  }
  [[nodiscard]] std::size_t count(TrackKind kind) const {
    const std::vector<Track> tracks = lay_out(rank_);
    return static_cast<std::size_t>(
        std::count_if(tracks.begin(), tracks.end(), [kind](const Track& each) { return each.kind == kind; }));
  }
  /// "(" begins a slice, ")" ends one, "<" is a post and ">" a completion.
  [[nodiscard]] std::string walked(const std::string& name) const {
    struct Writer {
      std::string& text;
      void begin(const Slice&) { text += '('; }
      void end(const Slice&) { text += ')'; }
      void message(const MessageEnd& end) { text += end.is_post ? '<' : '>'; }
    };
    std::string text;
    walk(track(name), Writer{text});
    return text;
  }

 private:
  testing::TemporaryDirectory directory_;
  RankTrace rank_;
};

TEST_F(Tracks, a_range_encloses_the_calls_of_its_thread) {
  load(RecordingBuilder(0, 1)
           .call({.function = "MPI_Barrier", .begin = 10, .end = 20})
           .range("step", 10, 30)
           .call({.function = "MPI_Barrier", .begin = 20, .end = 30})
           .call({.function = "MPI_Barrier", .begin = 40, .end = 50}));
  EXPECT_EQ(walked("thread 0"), "(()())()");
}

TEST_F(Tracks, a_message_is_posted_in_its_call_and_complete_in_its_call) {
  load(
      RecordingBuilder(0, 2)
          .call({.function = "MPI_Isend", .begin = 10, .end = 20, .waits = 0})
          .call({.function = "MPI_Wait", .begin = 20, .end = 30})
          .call({.function = "MPI_Recv", .begin = 30, .end = 40})
          .half(
              {.direction = trace::Direction::send, .peer = 1, .post = 10, .complete = 30, .blocking = false})
          .half({.direction = trace::Direction::receive, .peer = 1, .post = 30, .complete = 40}));
  EXPECT_EQ(walked("thread 0"), "(<)(>)(<>)");
}

TEST_F(Tracks, a_message_that_another_thread_completes_is_complete_there) {
  load(RecordingBuilder(0, 2)
           .call({.function = "MPI_Isend", .begin = 10, .end = 20, .waits = 0})
           .on_lane(1)
           .call({.function = "MPI_Wait", .begin = 30, .end = 50})
           .half({.direction = trace::Direction::send,
                  .peer = 1,
                  .post = 10,
                  .complete = 50,
                  .blocking = false}));
  EXPECT_EQ(walked("thread 0"), "(<)");
  EXPECT_EQ(walked("thread 1"), "(>)");
}

TEST_F(Tracks, what_overlaps_on_a_stream_lies_on_tracks_beside_each_other) {
  load(RecordingBuilder(0, 1).kernel(0, 100).kernel(50, 150).kernel(100, 200).kernel(150, 160));
  EXPECT_EQ(count(TrackKind::stream), 2u);
  EXPECT_EQ(walked("GPU 0 stream 0"), "()()") << "the first of them";
}

TEST_F(Tracks, calls_that_cross_each_other_do_not_share_a_track) {
  load(RecordingBuilder(0, 1)
           .call({.function = "MPI_Wait", .begin = 0, .end = 100})
           .call({.function = "MPI_Wait", .begin = 50, .end = 150}));
  EXPECT_EQ(walked("thread 0"), "()");
  EXPECT_EQ(walked("calls and ranges that cross"), "()");
}

TEST_F(Tracks, a_call_does_not_lie_in_another) {
  load(RecordingBuilder(0, 1)
           .call({.function = "MPI_Wait", .begin = 0, .end = 100})
           .call({.function = "MPI_Wait", .begin = 50, .end = 60}));
  EXPECT_EQ(walked("thread 0"), "()");
  EXPECT_EQ(walked("calls and ranges that cross"), "()");
}

TEST_F(Tracks, calls_without_length_are_slices_too) {
  load(RecordingBuilder(0, 1)
           .call({.function = "MPI_Test", .begin = 10, .end = 10})
           .call({.function = "MPI_Test", .begin = 10, .end = 10})
           .range("step", 5, 10));
  EXPECT_EQ(walked("thread 0"), "()()()");
}

}  // namespace
}  // namespace penstock::analysis::exports
