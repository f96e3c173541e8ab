// What requests of one-sided operations leave behind: nothing, also if nothing synchronises for long.
#include <cuda_runtime_api.h>
#include <malloc.h>

#include <cstdlib>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

/// By kind of the windows' memory: windows of ours, and of the MPI library.
class Requests : public testing::TestWithParam<MemoryKind> {
 protected:
  void SetUp() override { PENSTOCK_SKIP_WITHOUT_WINDOW(GetParam()); }
};

TEST_P(Requests, of_MPI_Rget_that_are_complete_keep_no_memory_until_the_window_is_unlocked) {
  constexpr int rounds = 4000;
  const WindowOf<int> window(GetParam(), 10);
  const Elements<int> origin(MemoryKind::device, 10);
  const auto get = [&](int times) {
    for (int i = 0; i < times; ++i) {
      MPI_Request request = MPI_REQUEST_NULL;
      ASSERT_EQ(MPI_Rget(origin.data(), 10, MPI_INT, (rank() + 1) % ranks(), 0, 10, MPI_INT, window.get(),
                         &request),
                MPI_SUCCESS);
      ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    }
  };
  MPI_Win_lock_all(0, window.get());
  get(rounds / 4);
  const std::size_t before = mallinfo2().uordblks;
  get(rounds);
  const std::size_t after = mallinfo2().uordblks;
  EXPECT_LT(after, before + 16 * rounds) << "less than 16 bytes for each";
  MPI_Win_unlock_all(window.get());
}

std::string kind_of_window(const testing::TestParamInfo<MemoryKind>& one) {
  return test_support::name_of(one.param);
}
INSTANTIATE_TEST_SUITE_P(Windows, Requests, testing::Values(MemoryKind::device, MemoryKind::pageable),
                         kind_of_window);

TEST(RequestsOfHostWindows, raise_a_failure_once) {
  PENSTOCK_SKIP_WITHOUT_WINDOW(MemoryKind::pageable);
  if (std::getenv("PENSTOCK_OWN_WINDOWS") != nullptr) GTEST_SKIP() << "copied before the memory is freed";
  const WindowOf<int> window(MemoryKind::pageable, 10);
  int* origin = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&origin), 40);
  MPI_Win_lock_all(0, window.get());
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Rget(origin, 10, MPI_INT, rank(), 0, 10, MPI_INT, window.get(), &request), MPI_SUCCESS);
  cudaFree(origin);  // what the library got cannot be copied there any more
  EXPECT_NE(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_unlock_all(window.get()), MPI_SUCCESS);
}

}  // namespace
}  // namespace penstock::windows
