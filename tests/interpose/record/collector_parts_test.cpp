// The collector's parts, each by itself: the join of own work, the clock's bounds, the buffers.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "interpose/record/gpu/activity_buffers.hpp"
#include "interpose/record/gpu/gpu_clock_bounds.hpp"
#include "interpose/record/gpu/issuing_calls.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::record {
namespace {

TEST(IssuingCalls, marks_all_activities_of_a_call_and_no_others) {
  IssuingCalls index;
  std::array<std::uint8_t, 4> marks{};
  index.remember(7, {&marks[0]});
  index.remember(8, {&marks[1]});
  index.remember(7, {&marks[2]});
  index.remember(7 + IssuingCalls::activities, {&marks[3]});  // the same chain, another call
  index.call_is_own(7);
  EXPECT_EQ(marks, (std::array<std::uint8_t, 4>{1, 0, 1, 0}));
  EXPECT_TRUE(index.is_own(7));
  EXPECT_FALSE(index.is_own(8));
  EXPECT_FALSE(index.is_own(7 + IssuingCalls::own_calls));
}

TEST(IssuingCalls, forgets_activities_that_are_too_old_and_marks_nothing_wrong) {
  IssuingCalls index;
  std::vector<std::uint8_t> marks(IssuingCalls::activities + 10);
  for (std::size_t i = 0; i < marks.size(); ++i) index.remember(1, {&marks[i]});
  index.call_is_own(1);
  for (std::size_t i = 0; i < marks.size(); ++i) {
    ASSERT_EQ(marks[i], i >= marks.size() - IssuingCalls::activities ? 1 : 0) << i;
  }
}

TEST(IssuingCalls, stays_right_while_ids_wrap_round) {
  IssuingCalls index;
  std::uint8_t mark = 0;
  std::uint32_t correlation = 0xffffff00;
  for (int i = 0; i < 0x200; ++i, ++correlation) {
    mark = 0;
    index.remember(correlation, {&mark});
    ASSERT_FALSE(index.is_own(correlation));
    index.call_is_own(correlation);
    ASSERT_EQ(mark, 1);
  }
}

TEST(IssuingCalls, tell_who_issued_an_activity_and_when_in_whatever_order_the_records_come) {
  IssuingCalls calls;
  std::array<std::uint8_t, 4> marks{};
  std::array<std::uint32_t, 3> threads{};
  std::array<std::uint64_t, 3> times{};
  calls.remember(7, {&marks[0], &threads[0], &times[0]});
  calls.remember(8, {&marks[1], &threads[1], &times[1]});
  calls.remember(7, {&marks[2], &threads[2], &times[2]});
  calls.remember(7, {&marks[3]});  // a synchronisation's, which has no thread
  calls.call_was_by(7, {4711, 123});
  EXPECT_EQ(threads, (std::array<std::uint32_t, 3>{4711, 0, 4711}));
  EXPECT_EQ(times, (std::array<std::uint64_t, 3>{123, 0, 123}));
  EXPECT_EQ(marks, (std::array<std::uint8_t, 4>{}));
  EXPECT_EQ(calls.issue_of(7).thread_id, 4711u);
  EXPECT_EQ(calls.issue_of(7).at_ns, 123u);
  for (const std::uint32_t unknown : {8u, 7u + static_cast<std::uint32_t>(IssuingCalls::activities), 0u})
    EXPECT_EQ(calls.issue_of(unknown).thread_id, 0u);
}

constexpr StreamOfContext own_stream{1, 5};

TEST(GpuClockBounds, need_both_sides) {
  GpuClockBounds bounds;
  bounds.call_began(1, 1000);
  bounds.activity(1, own_stream, 1200, 1300);
  EXPECT_EQ(bounds.error_ns(), trace::clock_error_unknown);
  bounds.stream_was_synchronised(2, own_stream, 1350);
  EXPECT_EQ(bounds.error_ns(), 200u);
}

TEST(GpuClockBounds, tighten_with_every_record) {
  GpuClockBounds bounds;
  for (std::uint32_t i = 0; i < 5; ++i) {
    bounds.activity(10 * i + 1, own_stream, 10'000 * i + 500 - 100 * i, 10'000 * i + 900);
    bounds.call_began(10 * i + 1, 10'000 * i);  // 500, 400, … 100 before the activity
    bounds.stream_was_synchronised(10 * i + 2, own_stream, 10'000 * i + 1500 - 100 * i);
  }
  EXPECT_EQ(bounds.error_ns(), 200u);
}

TEST(GpuClockBounds, show_a_clock_that_is_off) {
  GpuClockBounds bounds;
  bounds.call_began(1, 1'000'000);
  bounds.activity(1, own_stream, 900'000, 950'000);  // before the call that issued it
  bounds.stream_was_synchronised(2, own_stream, 1'060'000);
  EXPECT_EQ(bounds.error_ns(), 110'000u);
}

TEST(GpuClockBounds, ignore_a_synchronisation_that_did_not_wait_for_the_activity) {
  GpuClockBounds bounds;
  bounds.call_began(5, 1000);
  bounds.activity(5, own_stream, 1200, 9000);
  bounds.stream_was_synchronised(4, own_stream, 1100);  // issued before it
  bounds.stream_was_synchronised(6, {1, 6}, 1100);      // another stream
  bounds.stream_was_synchronised(6, {2, 5}, 1100);      // another context
  bounds.context_was_synchronised(6, 2, 1100);          // another context
  bounds.context_was_synchronised(4, 1, 1100);          // issued before it
  EXPECT_EQ(bounds.error_ns(), trace::clock_error_unknown);
}

TEST(GpuClockBounds, are_as_near_as_the_last_stream_where_a_whole_context_is_waited_for) {
  GpuClockBounds bounds;
  bounds.call_began(1, 1000);
  bounds.activity(1, own_stream, 1100, 1200);
  bounds.activity(2, {1, 9}, 1100, 1450);
  bounds.context_was_synchronised(3, 1, 1500);
  EXPECT_EQ(bounds.error_ns(), 100u);
}

TEST(ActivityBuffers, are_used_again) {
  ActivityBuffers buffers;
  buffers.top_up();
  std::uint8_t* first = buffers.take_empty();
  ASSERT_NE(first, nullptr);
  buffers.put_filled({first, 10});
  std::array<FilledBuffer, ActivityBuffers::most_buffers> filled;
  ASSERT_EQ(buffers.take_filled(filled), 1u);
  EXPECT_EQ(filled[0].begin, first);
  EXPECT_EQ(filled[0].bytes, 10u);
  EXPECT_EQ(buffers.take_filled(filled), 0u);
  buffers.put_empty(first);
  EXPECT_EQ(buffers.take_empty(), first);
}

TEST(ActivityBuffers, are_refused_beyond_the_most_and_come_back_when_one_is_free) {
  ActivityBuffers buffers;
  std::set<std::uint8_t*> taken;
  for (std::size_t i = 0; i < ActivityBuffers::most_buffers; ++i) taken.insert(buffers.take_empty());
  EXPECT_EQ(taken.size(), ActivityBuffers::most_buffers);
  EXPECT_EQ(taken.count(nullptr), 0u);
  EXPECT_EQ(buffers.take_empty(), nullptr);
  for (std::uint8_t* buffer : taken) buffers.put_filled({buffer, 1});
  std::array<FilledBuffer, ActivityBuffers::most_buffers> filled;
  EXPECT_EQ(buffers.take_filled(filled), ActivityBuffers::most_buffers);
  buffers.put_empty(filled[0].begin);
  EXPECT_EQ(buffers.take_empty(), filled[0].begin);
}

TEST(ActivityBuffers, wake_their_reader) {
  ActivityBuffers buffers;
  std::jthread writer([&] {
    buffers.put_filled({buffers.take_empty(), 1});
    buffers.wake();
  });
  std::array<FilledBuffer, ActivityBuffers::most_buffers> filled;
  while (buffers.take_filled(filled) == 0) buffers.wait(std::chrono::hours(1));
  EXPECT_EQ(filled[0].bytes, 1u);
}

}  // namespace
}  // namespace penstock::record
