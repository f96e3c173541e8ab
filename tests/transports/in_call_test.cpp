// What is known of the program's only thread: whether it is in a call, whether it has been away long enough
// to queue work on a GPU, and how others see it.
#include "transports/in_call.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <thread>

namespace penstock::transports::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t inside = 2;
constexpr std::uint64_t changed = 4;

class InCallTest : public testing::Test {
 protected:
  void SetUp() override { set_single_threaded(true); }
  void TearDown() override { set_single_threaded(false); }
};

std::uint64_t stretch_of_a_call() {
  const InCall call;
  return number_of_stretch();
}

TEST_F(InCallTest, calls_apart_from_each_other_belong_to_stretches_of_their_own) {
  EXPECT_EQ(number_of_stretch(), 0u);
  std::uint64_t first = 0;
  {
    const InCall call;
    first = number_of_stretch();
    EXPECT_NE(first, 0u);
    const InCall nested;
    EXPECT_EQ(number_of_stretch(), first);
  }
  EXPECT_EQ(number_of_stretch(), 0u);
  std::this_thread::sleep_for(1ms);
  const InCall without_gpu(false);  // as while nobody uses one
  EXPECT_EQ(number_of_stretch(), 0u);
  const InCall call;
  EXPECT_NE(number_of_stretch(), 0u);
  EXPECT_NE(number_of_stretch(), first);
}

TEST_F(InCallTest, calls_that_follow_each_other_closely_are_one_stretch) {
  bool seen = false;  // this thread may lose the processor between two calls
  for (int attempt = 0; attempt < 10'000 && !seen; ++attempt)
    seen = stretch_of_a_call() == stretch_of_a_call();
  EXPECT_TRUE(seen);
}

TEST_F(InCallTest, with_several_threads_each_call_is_a_stretch) {
  set_single_threaded(false);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t first = stretch_of_a_call();
    ASSERT_NE(stretch_of_a_call(), first);
  }
}

TEST_F(InCallTest, a_call_of_the_only_thread_is_known_to_have_begun_when_it_did) {
  const std::uint64_t before_ns = steady_now_ns();
  const InCall call;
  const std::uint64_t after_ns = steady_now_ns();
  std::this_thread::sleep_for(1ms);
  const InCall nested;
  EXPECT_GE(begin_of_call_ns(), before_ns);
  EXPECT_LE(begin_of_call_ns(), after_ns);
}

TEST_F(InCallTest, where_the_begin_of_a_call_is_not_noted_it_is_now) {
  const std::uint64_t outside_ns = steady_now_ns();
  EXPECT_GE(begin_of_call_ns(), outside_ns);
  { const InCall call; }
  set_single_threaded(false);
  const InCall call;
  std::this_thread::sleep_for(1ms);
  const std::uint64_t before_ns = steady_now_ns();
  EXPECT_GE(begin_of_call_ns(), before_ns);
}

TEST_F(InCallTest, the_caller_is_inside_until_the_outermost_call_ends) {
  EXPECT_FALSE(caller_is_inside());
  std::optional<InCall> call(std::in_place);
  { const InCall nested; }
  EXPECT_TRUE(caller_is_inside());
  call.reset();
  EXPECT_FALSE(caller_is_inside());
}

TEST_F(InCallTest, a_program_of_several_threads_is_never_known_to_be_inside) {
  set_single_threaded(false);
  const InCall call;
  EXPECT_FALSE(caller_is_inside());
  EXPECT_NE(number_of_stretch(), 0u);
}

TEST_F(InCallTest, time_inside_calls_is_no_absence) {
  const InCall call;
  const std::uint64_t absences = absences_of_caller();
  std::this_thread::sleep_for(1ms);
  { const InCall nested; }
  EXPECT_EQ(absences_of_caller(), absences);
}

TEST_F(InCallTest, time_between_calls_that_is_long_enough_is_an_absence) {
  { const InCall call; }
  const std::uint64_t absences = absences_of_caller();
  std::this_thread::sleep_for(1ms);
  const InCall call;
  EXPECT_EQ(absences_of_caller(), absences + 1);
}

TEST_F(InCallTest, others_see_when_a_call_begins_and_ends) {
  static std::atomic<std::uint64_t> word{1};
  static std::atomic<std::uint64_t> other{0};
  {
    const InCall call;
    show_calls({&word, inside, changed});
    EXPECT_EQ(word, 1 | inside | changed);
    const InCall nested;
    EXPECT_EQ(word, 1 | inside | changed);
  }
  EXPECT_EQ(word, 1 | changed);
  {
    const InCall call;
    EXPECT_EQ(word, 1 | inside);
    show_calls({&other, inside, changed});
    EXPECT_EQ(word, 1u) << "who is not shown any more must not be taken to be inside for ever";
    EXPECT_EQ(other, inside | changed);
  }
  EXPECT_EQ(other, changed);
}

TEST_F(InCallTest, nothing_is_shown_outside_of_calls_and_of_other_threads) {
  static std::atomic<std::uint64_t> word{0};
  show_calls({&word, inside, changed});
  EXPECT_EQ(word, 0u);
  const InCall call;
  std::thread([] { show_calls({&word, inside, changed}); }).join();
  EXPECT_EQ(word, 0u);
}

}  // namespace
}  // namespace penstock::transports::test
