// GoogleTest in every rank of an MPI job. All ranks run the same tests in the same order.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdio>

#include "tests/support/gtest_exit_code.hpp"
#include "tests/support/job_exit_code.hpp"
#include "tests/support/watchdog.hpp"

namespace {

/// Tells the watchdog where the rank is. A rank on which a test has failed may have left its collectives to
/// the others, who would wait in them for ever, and in its next test it would be out of step.
class Progress : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& test) override {
    penstock::test_support::progress("%s", test.name());
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    std::fflush(nullptr);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
};

/// What the ranks that print nothing else say.
class Failures : public testing::EmptyTestEventListener {
 public:
  explicit Failures(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s:%d: %s\n", rank_,
                 result.file_name() != nullptr ? result.file_name() : "", result.line_number(),
                 result.message());
  }

  int rank_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  penstock::test_support::watch(rank, 60);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new Progress);
  if (rank != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Failures(rank));
  }
  const int code = penstock::test_support::job_exit_code(penstock::test_support::run_all_tests());
  MPI_Finalize();
  return code;
}
