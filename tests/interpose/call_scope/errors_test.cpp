// One rank, with an error handler that takes down what it is told.
#include "interpose/calls/errors.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <future>
#include <new>
#include <thread>

#include "interpose/calls/quiet_errors.hpp"
#include "tests/interpose/recorder_double/recorder_double.hpp"

namespace penstock::interpose {
namespace {

using test::RecorderDouble;

MPI_Comm told_communicator;
int told_code;

void take_down(MPI_Comm* communicator, int* code, ...) {
  told_communicator = *communicator;
  told_code = *code;
}

class ErrorsTest : public testing::Test {
 protected:
  ErrorsTest() {
    RecorderDouble::start();
    told_communicator = MPI_COMM_NULL;
    told_code = MPI_SUCCESS;
    MPI_Comm_create_errhandler(take_down, &handler_);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler_);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler_);
  }
  ~ErrorsTest() override {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler_);
  }

 private:
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

TEST_F(ErrorsTest, an_error_goes_through_the_communicators_own_handler_and_is_returned) {
  EXPECT_EQ(raise(MPI_COMM_SELF, MPI_ERR_TRUNCATE), MPI_ERR_TRUNCATE);
  EXPECT_EQ(told_communicator, MPI_COMM_SELF);
  EXPECT_EQ(told_code, MPI_ERR_TRUNCATE);
}

TEST_F(ErrorsTest, an_error_without_a_communicator_goes_to_the_handler_of_MPI_COMM_WORLD) {
  EXPECT_EQ(raise(MPI_COMM_NULL, MPI_ERR_OTHER), MPI_ERR_OTHER);
  EXPECT_EQ(told_communicator, MPI_COMM_WORLD);
}

TEST_F(ErrorsTest, a_refused_device_buffer_is_an_error_of_the_buffer_and_a_line_that_names_the_call) {
  EXPECT_EQ(ErrorTarget::of(MPI_COMM_WORLD).refuse_device_buffer("MPI_Put"), MPI_ERR_BUFFER);
  EXPECT_EQ(told_code, MPI_ERR_BUFFER);
  ASSERT_EQ(RecorderDouble::notices().size(), 1u);
  EXPECT_EQ(RecorderDouble::notices()[0], "MPI_Put: device buffers are not supported in this call");
}

TEST_F(ErrorsTest, a_failure_names_the_call_what_failed_in_it_and_the_cause) {
  EXPECT_EQ(raise_status(MPI_COMM_WORLD, "MPI_Recv", {Code::cuda_failed, "cuMemcpyAsync", 700}),
            MPI_ERR_OTHER);
  EXPECT_EQ(raise_status(MPI_COMM_WORLD, "MPI_Send", {Code::system_failed, "mmap", ENOSPC}), MPI_ERR_OTHER);
  ASSERT_EQ(RecorderDouble::notices().size(), 2u);
  EXPECT_EQ(RecorderDouble::notices()[0], "MPI_Recv: cuMemcpyAsync failed (CUDA error 700)");
  EXPECT_EQ(RecorderDouble::notices()[1], "MPI_Send: mmap failed (No space left on device)");
}

TEST_F(ErrorsTest, running_out_of_memory_and_bad_pointers_have_the_error_class_that_says_so) {
  EXPECT_EQ(raise_status(MPI_COMM_WORLD, "MPI_Bcast", {Code::out_of_memory, "cuMemHostAlloc"}),
            MPI_ERR_NO_MEM);
  EXPECT_EQ(raise_status(MPI_COMM_WORLD, "MPI_Send", {Code::bad_argument, "locate"}), MPI_ERR_BUFFER);
}

/// As wrappers are made.
template <typename Exception>
int MPI_Throw(MPI_Comm communicator) try {
  throw Exception();
}
PENSTOCK_OUT_OF_MEMORY(communicator)

TEST_F(ErrorsTest, memory_that_runs_out_in_a_wrapper_is_an_MPI_error) {
  EXPECT_EQ(MPI_Throw<std::bad_alloc>(MPI_COMM_SELF), MPI_ERR_NO_MEM);
  EXPECT_EQ(told_communicator, MPI_COMM_SELF);
  EXPECT_EQ(told_code, MPI_ERR_NO_MEM);
  ASSERT_EQ(RecorderDouble::notices().size(), 1u);
  EXPECT_EQ(RecorderDouble::notices()[0], "MPI_Throw: out of memory in Penstock");
}

TEST_F(ErrorsTest, an_exception_of_the_applications_passes_a_wrapper) {
  struct OfTheApplication {};
  EXPECT_THROW(MPI_Throw<OfTheApplication>(MPI_COMM_SELF), OfTheApplication);
  EXPECT_EQ(told_code, MPI_SUCCESS);
}

/// The library calls handlers with its lock held, so that one which calls MPI ends the job.
TEST_F(ErrorsTest, of_other_threads_reach_the_programs_handler_while_one_keeps_quiet) {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (!library_raises_on_none || provided != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "nothing is hidden";
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  ASSERT_EQ(make_error_handler(take_down, &own, PMPI_Comm_create_errhandler), MPI_SUCCESS);
  set_error_handler(MPI_COMM_WORLD, own, PMPI_Comm_set_errhandler);
  std::promise<void> is_quiet;
  std::promise<void> is_over;
  std::thread other([&] {
    const QuietErrors quiet;
    EXPECT_TRUE(quiet.hides());
    is_quiet.set_value();
    is_over.get_future().wait();
  });
  is_quiet.get_future().wait();
  int length = 0;
  const int code = MPI_Comm_get_name(MPI_COMM_WORLD, nullptr, &length);
  EXPECT_NE(code, MPI_SUCCESS);
  EXPECT_EQ(told_communicator, MPI_COMM_WORLD);
  EXPECT_EQ(told_code, code);
  set_error_handler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, PMPI_Comm_set_errhandler);
  told_code = MPI_SUCCESS;
  EXPECT_NE(MPI_Comm_get_name(MPI_COMM_WORLD, nullptr, &length), MPI_SUCCESS);
  EXPECT_EQ(told_code, MPI_SUCCESS);
  is_over.set_value();
  other.join();
  MPI_Errhandler_free(&own);
}

}  // namespace
}  // namespace penstock::interpose

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int failed = RUN_ALL_TESTS();
  MPI_Finalize();
  return failed;
}
