#include "interpose/calls/call_scope.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "tests/interpose/recorder_double/recorder_double.hpp"

namespace penstock::interpose {
namespace {

using test::RecorderDouble;

// return addresses; any two will do
const int here = 0;
const int there = 0;

class CallScopeTest : public testing::Test {
 protected:
  CallScopeTest() {
    RecorderDouble::start();
    wake_up();
    leave_storm();
  }
  ~CallScopeTest() override { fall_asleep(); }

  /// One call of 10 ns at a time.
  static void call(Function function, const void* site, std::uint64_t begin_ns, std::uint64_t bytes = 0) {
    RecorderDouble::set_clock(begin_ns);
    CallScope scope(function, site);
    scope.add_bytes(bytes);
    RecorderDouble::set_clock(begin_ns + 10);
  }

 private:
  /// The calling thread's last call of the test before is no part of this one's.
  static void leave_storm() {
    call(Function::Get_version, nullptr, 0);
    RecorderDouble::start();
  }
};

TEST_F(CallScopeTest, before_MPI_Init_and_after_MPI_Finalize_a_scope_stands_aside_and_records_nothing) {
  fall_asleep();
  {
    const CallScope scope(Function::Send, &here);
    EXPECT_TRUE(scope.stands_aside());
    EXPECT_FALSE(scope.recording());
  }
  EXPECT_TRUE(RecorderDouble::calls().empty());
}

/// The test is one module with Penstock, which stands for the MPI library, too.
TEST_F(CallScopeTest, a_call_that_the_library_makes_inside_another_stands_aside_and_is_not_recorded) {
  {
    const CallScope outer(Function::File_write_all, &here);
    EXPECT_FALSE(outer.stands_aside());
    const CallScope inner(Function::Isend, &there);
    EXPECT_TRUE(inner.stands_aside());
  }
  ASSERT_EQ(RecorderDouble::calls().size(), 1u);
  EXPECT_EQ(RecorderDouble::text(RecorderDouble::calls()[0].function), "MPI_File_write_all");
}

TEST_F(CallScopeTest, a_call_that_the_program_makes_inside_another_is_served_and_ends_the_outer_record) {
  const void* const of_program = dlsym(RTLD_DEFAULT, "getenv");  // in another module than Penstock and MPI
  RecorderDouble::set_clock(1'000);
  {
    const CallScope outer(Function::Comm_free, &here);
    RecorderDouble::set_clock(1'100);
    {
      const CallScope inner(Function::Isend, of_program);
      EXPECT_FALSE(inner.stands_aside());
      EXPECT_TRUE(inner.recording());
      EXPECT_TRUE(CallScope(Function::Send, &there).stands_aside()) << "the library's, inside of that";
      EXPECT_FALSE(CallScope(Function::Type_size, of_program).recording());
      EXPECT_TRUE(CallScope(Function::Test, nullptr).stands_aside()) << "Penstock's own";
      RecorderDouble::set_clock(1'200);
    }
    RecorderDouble::set_clock(1'300);
  }
  ASSERT_EQ(RecorderDouble::calls().size(), 2u);
  const trace::MpiCall outer = RecorderDouble::calls()[0];
  const trace::MpiCall inner = RecorderDouble::calls()[1];
  EXPECT_EQ(RecorderDouble::text(outer.function), "MPI_Comm_free");
  EXPECT_EQ(outer.begin_ns, 1'000u);
  EXPECT_EQ(outer.end_ns, 1'100u);
  EXPECT_EQ(RecorderDouble::text(inner.function), "MPI_Isend");
  EXPECT_EQ(inner.begin_ns, 1'100u);
  EXPECT_EQ(inner.end_ns, 1'200u);
}

TEST_F(CallScopeTest, a_call_on_another_thread_is_not_inside_this_threads_call) {
  const CallScope scope(Function::Recv, &here);
  std::thread([] { EXPECT_FALSE(CallScope(Function::Send, &there).stands_aside()); }).join();
}

TEST_F(CallScopeTest, an_exception_of_the_applications_error_handler_leaves_the_scope_as_a_return_does) {
  try {
    const CallScope scope(Function::Send, &here);
    throw std::runtime_error("from an error handler");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(CallScope(Function::Send, &here).stands_aside());
}

TEST_F(CallScopeTest, with_recording_off_a_scope_takes_no_time_stamp_and_writes_nothing) {
  RecorderDouble::stop();
  {
    const CallScope scope(Function::Send, &here);
    EXPECT_FALSE(scope.stands_aside());
    EXPECT_EQ(scope.begin_ns(), 0u);
  }
  EXPECT_TRUE(RecorderDouble::calls().empty());
}

TEST_F(CallScopeTest, a_record_says_which_call_from_where_when_and_whether_it_waits) {
  call(Function::Recv, &here, 5'000, 64);
  ASSERT_EQ(RecorderDouble::calls().size(), 1u);
  const trace::MpiCall record = RecorderDouble::calls()[0];
  EXPECT_EQ(RecorderDouble::text(record.function), "MPI_Recv");
  EXPECT_EQ(record.call_site, reinterpret_cast<std::uintptr_t>(&here));
  EXPECT_EQ(record.begin_ns, 5'000u);
  EXPECT_EQ(record.end_ns, 5'010u);
  EXPECT_EQ(record.bytes, 64u);
  EXPECT_EQ(record.repeats, 1u);
  EXPECT_EQ(record.waits, 1);
  EXPECT_EQ(record.peer, -1);
  EXPECT_EQ(record.tag, -1);
}

TEST_F(CallScopeTest, wildcards_and_null_processes_are_recorded_as_the_format_spells_them) {
  CallScope(Function::Recv, &here).message(MPI_COMM_NULL, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  CallScope(Function::Recv, &there).message(MPI_COMM_NULL, MPI_PROC_NULL, 7, 0);
  ASSERT_EQ(RecorderDouble::calls().size(), 2u);
  EXPECT_EQ(RecorderDouble::calls()[0].peer, -2);
  EXPECT_EQ(RecorderDouble::calls()[0].tag, -1);
  EXPECT_EQ(RecorderDouble::calls()[1].peer, -1);
  EXPECT_EQ(RecorderDouble::calls()[1].tag, 7);
}

TEST_F(CallScopeTest, a_call_is_open_from_its_begin_to_its_end_with_what_it_is_about) {
  RecorderDouble::set_clock(5'000);
  {
    CallScope scope(Function::Sendrecv, &here);
    const trace::OpenCall& open = record::open_call();
    EXPECT_EQ(open.call.kind, trace::RecordKind::mpi_call);
    EXPECT_EQ(RecorderDouble::text(open.call.function), "MPI_Sendrecv");
    EXPECT_EQ(open.call.begin_ns, 5'000u);
    EXPECT_EQ(open.call.end_ns, 0u);
    EXPECT_EQ(open.call.waits, 1);
    EXPECT_EQ(open.receives, 0);
    scope.message(MPI_COMM_NULL, MPI_ANY_SOURCE, 7, 0);
    scope.receives_from(MPI_COMM_NULL, MPI_ANY_SOURCE, MPI_ANY_TAG);
    EXPECT_EQ(open.call.peer, -2);
    EXPECT_EQ(open.call.tag, 7);
    EXPECT_EQ(open.receives, 1);
    EXPECT_EQ(open.source, -2);
    EXPECT_EQ(open.source_tag, -1);
  }
  EXPECT_EQ(record::open_call().call.kind, trace::RecordKind::none);
}

TEST_F(CallScopeTest, operations_of_an_earlier_call_are_not_those_of_the_next_one) {
  {
    CallScope scope(Function::Waitall, &here);
    scope.completes(3, 100, 200);
    EXPECT_EQ(record::open_call().operations, 3u);
    EXPECT_EQ(record::open_call().first_post_ns, 100u);
    EXPECT_EQ(record::open_call().last_post_ns, 200u);
  }
  const CallScope scope(Function::Waitall, &here);
  EXPECT_EQ(record::open_call().operations, 0u);
}

TEST_F(CallScopeTest, a_call_during_which_recording_ends_is_open_no_longer_than_it_lasts) {
  {
    const CallScope scope(Function::Barrier, &here);
    RecorderDouble::stop();
  }
  EXPECT_EQ(record::open_call().call.kind, trace::RecordKind::none);
  EXPECT_TRUE(RecorderDouble::calls().empty());
}

TEST_F(CallScopeTest, a_storm_of_tests_from_one_site_becomes_the_first_call_and_one_record_of_the_rest) {
  for (std::uint64_t i = 0; i < 1'000; ++i) call(Function::Test, &here, 10'000 + 20 * i);
  call(Function::Recv, &there, 100'000);
  const auto calls = RecorderDouble::calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].repeats, 1u);
  EXPECT_EQ(calls[1].repeats, 999u);
  EXPECT_EQ(calls[1].begin_ns, 10'020u);
  EXPECT_EQ(calls[1].end_ns, 10'000u + 20 * 999 + 10);
  EXPECT_EQ(RecorderDouble::text(calls[2].function), "MPI_Recv");
}

TEST_F(CallScopeTest, tests_from_two_sites_are_told_apart) {
  for (std::uint64_t i = 0; i < 10; ++i) call(Function::Test, i % 2 == 0 ? &here : &there, 10'000 + 20 * i);
  EXPECT_EQ(RecorderDouble::calls().size(), 10u);
}

TEST_F(CallScopeTest, tests_with_work_between_them_are_no_storm) {
  for (std::uint64_t i = 0; i < 10; ++i) call(Function::Test, &here, 10'000 + 5'000 * i);
  EXPECT_EQ(RecorderDouble::calls().size(), 10u);
}

TEST_F(CallScopeTest, calls_that_move_bytes_and_calls_that_wait_each_have_their_record) {
  for (std::uint64_t i = 0; i < 10; ++i) call(Function::Isend, &here, 10'000 + 20 * i, 8);
  for (std::uint64_t i = 0; i < 10; ++i) call(Function::Wait, &there, 20'000 + 20 * i);
  EXPECT_EQ(RecorderDouble::calls().size(), 20u);
}

TEST_F(CallScopeTest, a_long_storm_is_written_every_millisecond) {
  constexpr std::uint64_t calls_of_ten_milliseconds = 20'000;
  for (std::uint64_t i = 0; i < calls_of_ten_milliseconds; ++i) call(Function::Iprobe, &here, 500 * i);
  EXPECT_GE(RecorderDouble::calls().size(), 10u);
  EXPECT_LE(RecorderDouble::calls().size(), 12u);
}

TEST_F(CallScopeTest, what_a_storm_holds_back_is_written_when_the_thread_ends) {
  std::thread([] {
    for (std::uint64_t i = 0; i < 100; ++i) call(Function::Test, &here, 10'000 + 20 * i);
  }).join();
  ASSERT_EQ(RecorderDouble::calls().size(), 2u);
  EXPECT_EQ(RecorderDouble::calls()[1].repeats, 99u);
}

TEST_F(CallScopeTest, what_a_storm_holds_back_is_written_when_the_recording_ends) {
  for (std::uint64_t i = 0; i < 100; ++i) call(Function::Test, &here, 10'000 + 20 * i);
  fall_asleep();
  ASSERT_EQ(RecorderDouble::calls().size(), 2u);
  EXPECT_EQ(RecorderDouble::calls()[1].repeats, 99u);
}

}  // namespace
}  // namespace penstock::interpose
