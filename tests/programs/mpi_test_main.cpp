// GoogleTest in an MPI job: every rank runs the same tests in the same order; the job fails if a test fails
// on any, and is skipped if all tests are. With the argument `single` they run after MPI_Init, with
// `funneled` at that level, else with MPI_THREAD_MULTIPLE.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>
#include <string_view>

#include "tests/programs/test_messages.hpp"
#include "tests/support/gtest_exit_code.hpp"
#include "tests/support/job_exit_code.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/watchdog.hpp"

namespace {

/// Says which test a stuck rank was in, keeps the ranks in step, and tells the failures of ranks that print
/// nothing.
class InStep : public testing::EmptyTestEventListener {
 public:
  explicit InStep(int rank) : rank_(rank) {}

 private:
  void OnTestStart(const testing::TestInfo& test) override {
    MPI_Barrier(MPI_COMM_WORLD);
    penstock::test_support::progress("%s.%s", test.test_suite_name(), test.name());
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (rank_ == 0 || !result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: Failure\n%s\n", rank_, result.file_name(), result.line_number(),
                 result.message());
  }

  int rank_;
};

int run_tests(int rank) {
  if (penstock::test_support::gpu_count() == 0) {
    std::puts("SKIPPED: no GPU");
    return penstock::test_support::skipped;
  }
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (rank != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new InStep(rank));
  return penstock::test_support::run_all_tests();
}

}  // namespace

int penstock::programs::thread_level_asked_for = MPI_THREAD_SINGLE;
using penstock::programs::thread_level_asked_for;

int main(int argument_count, char** arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  const std::string_view threads = argument_count > 1 ? arguments[1] : "";
  if (threads == "single") {
    MPI_Init(&argument_count, &arguments);
  } else {
    int provided = 0;
    thread_level_asked_for = threads == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argument_count, &arguments, thread_level_asked_for, &provided);
  }
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  penstock::test_support::watch(rank, 60);
  const int code = penstock::test_support::job_exit_code(run_tests(rank));
  MPI_Finalize();
  return code;
}
