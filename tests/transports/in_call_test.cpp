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

TEST_F(InCallTest, each_outermost_call_has_a_number_of_its_own) {
  EXPECT_EQ(number_of_call(), 0u);
  std::uint64_t first = 0;
  {
    const InCall call;
    first = number_of_call();
    EXPECT_NE(first, 0u);
    const InCall nested;
    EXPECT_EQ(number_of_call(), first);
  }
  EXPECT_EQ(number_of_call(), 0u);
  const InCall without_gpu(false);  // as while nobody uses one
  EXPECT_EQ(number_of_call(), 0u);
  const InCall call;
  EXPECT_NE(number_of_call(), 0u);
  EXPECT_NE(number_of_call(), first);
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
