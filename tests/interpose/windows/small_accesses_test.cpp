// Many small puts and gets before a completing call, which may begin together.
#include <cuda_runtime_api.h>

#include <array>
#include <numeric>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

constexpr int accesses = 200;
constexpr int length = 16;

std::vector<int> numbers() {
  std::vector<int> all(accesses * length);
  std::iota(all.begin(), all.end(), 1000 * rank());
  return all;
}

class SmallAccesses : public testing::TestWithParam<MemoryKind> {};

TEST_P(SmallAccesses, arrive_side_by_side_and_apart) {
  for (const int apart : {1, 3}) {
    WindowOf<int> window(MemoryKind::device, accesses * length * 3, -1);
    Elements<int> origin(GetParam(), accesses * length);
    Elements<int> back(GetParam(), accesses * length, -2);
    origin.set(numbers());
    const int target = (rank() + 1) % ranks();
    MPI_Win_lock_all(0, window.get());
    for (int round = 0; round < 3; ++round) {  // the first ones begin at once
      for (int i = 0; i < accesses; ++i)
        MPI_Put(origin.data() + i * length, length, MPI_INT, target, i * length * apart, length, MPI_INT,
                window.get());
      MPI_Win_flush(target, window.get());
      for (int i = accesses - 1; i >= 0; --i)
        MPI_Get(back.data() + i * length, length, MPI_INT, target, i * length * apart, length, MPI_INT,
                window.get());
      MPI_Win_flush_local_all(window.get());
      EXPECT_EQ(back.get(), numbers());
      back.set(std::vector<int>(accesses * length, -2));
    }
    MPI_Win_unlock_all(window.get());
  }
}

TEST_P(SmallAccesses, arrive_although_one_leads_nowhere) {
  WindowOf<int> window(MemoryKind::device, accesses * length, -1);
  Elements<int> origin(GetParam(), accesses * length);
  origin.set(numbers());
  int* freed = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&freed), 1 << 22), cudaSuccess);
  const int target = (rank() + 1) % ranks();
  MPI_Win_lock_all(0, window.get());
  MPI_Put(freed, length, MPI_INT, target, 0, length, MPI_INT, window.get());  // so that it is known
  MPI_Win_flush(target, window.get());
  cudaFree(freed);
  int failures = 0;
  for (int i = 0; i < accesses; ++i) {
    const int* const from = i == accesses / 2 ? freed : origin.data() + i * length;
    failures +=
        MPI_Put(from, length, MPI_INT, target, i * length, length, MPI_INT, window.get()) != MPI_SUCCESS;
  }
  failures += MPI_Win_flush(target, window.get()) != MPI_SUCCESS;
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(MPI_Win_flush(target, window.get()), MPI_SUCCESS);
  std::vector<int> found(accesses * length, -1);
  MPI_Get(found.data(), accesses * length, MPI_INT, target, 0, accesses * length, MPI_INT, window.get());
  MPI_Win_unlock_all(window.get());
  std::vector<int> expected = numbers();
  const auto hole = accesses / 2 * length;
  for (int i = 0; i < length; ++i)
    expected[static_cast<std::size_t>(hole + i)] = found[static_cast<std::size_t>(hole + i)];
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Windows, SmallAccesses,
                         testing::Values(MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned,
                                         MemoryKind::managed),
                         [](const auto& one) { return test_support::name_of(one.param); });

}  // namespace
}  // namespace penstock::windows
