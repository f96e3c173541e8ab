// Which MPI call a thread is in, since when, and how others see it.
#include "transports/host/in_call.hpp"

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

std::uint64_t number_of_a_call() {
  const InCall call;
  return number_of_call();
}

TEST_F(InCallTest, a_nested_call_belongs_to_the_outermost_one) {
  EXPECT_EQ(number_of_call(), 0u);
  {
    const InCall call;
    const std::uint64_t outermost = number_of_call();
    EXPECT_NE(outermost, 0u);
    const InCall nested;
    EXPECT_EQ(number_of_call(), outermost);
  }
  EXPECT_EQ(number_of_call(), 0u);
  const InCall without_gpu(false);  // as while nobody uses one
  EXPECT_EQ(number_of_call(), 0u);
}

TEST_F(InCallTest, calls_are_told_apart_however_close_they_are) {
  for (const bool is_single : {true, false}) {
    set_single_threaded(is_single);
    for (int i = 0; i < 10'000; ++i) {
      const std::uint64_t first = number_of_a_call();
      ASSERT_NE(number_of_a_call(), first);
    }
  }
}

TEST_F(InCallTest, all_who_ask_for_the_time_in_a_call_are_told_the_same) {
  for (const bool is_single : {true, false}) {
    set_single_threaded(is_single);
    const std::uint64_t before_ns = steady_now_ns();
    const InCall call;
    const std::uint64_t told_ns = time_of_call_ns();
    EXPECT_GE(told_ns, before_ns);
    EXPECT_LE(told_ns, steady_now_ns());
    std::this_thread::sleep_for(1ms);
    const InCall nested;
    EXPECT_EQ(time_of_call_ns(), told_ns);
  }
}

TEST_F(InCallTest, the_time_of_a_call_is_not_that_of_an_earlier_one) {
  std::uint64_t earlier_ns = 0;
  {
    const InCall call;
    earlier_ns = time_of_call_ns();
  }
  const std::uint64_t outside_ns = steady_now_ns();
  EXPECT_GE(time_of_call_ns(), outside_ns);
  const InCall call;
  EXPECT_GE(time_of_call_ns(), outside_ns);
  EXPECT_NE(time_of_call_ns(), earlier_ns);
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
  EXPECT_NE(number_of_call(), 0u);
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
