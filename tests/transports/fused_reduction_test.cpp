// Two parts of this process, a GPU each, that combine vectors as two processes do.
#include "transports/reduction/fused_reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/reduction/symmetric_memory.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::transports::test {
namespace {

constexpr std::size_t memory_bytes = 2u << 20;

class FusedReductions : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (device_count() < 2) GTEST_SKIP() << "needs two GPUs, as kernels that wait for each other do";
    set_linger(GetParam() ? 1'000'000 : 0);
    std::array<CUcontext, 2> contexts{};
    for (int device = 1; device >= 0; --device) {
      use_device(device);
      REQUIRE_CUDA(cuCtxGetCurrent(&contexts[static_cast<std::size_t>(device)]));
    }
    std::array<SymmetricPart, 2> told;
    for (std::size_t own = 0; own < 2; ++own) {
      use_device(static_cast<int>(own));
      const CUresult enabled = cuCtxEnablePeerAccess(contexts[1 - own], 0);
      if (enabled != CUDA_SUCCESS && enabled != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
        GTEST_SKIP() << "no peer access";
      ASSERT_TRUE(SymmetricMemory::make(cuda::Context::of(contexts[own]), memory_bytes, memory_[own]).ok());
      told[own] = memory_[own].part();
    }
    for (std::size_t own = 0; own < 2; ++own) {
      ASSERT_TRUE(memory_[own].open(told, own).ok());
      parts_[own] = std::make_unique<FusedReduction>(memory_[own], own);
    }
  }
  void TearDown() override { set_linger(0); }

  static std::vector<float> vector_of(int device, std::size_t count, unsigned round) {
    std::vector<float> all(count);
    for (std::size_t i = 0; i < count; ++i)
      all[i] = static_cast<float>((i * 7 + static_cast<unsigned>(device) * 5 + round) % 13);
    return all;
  }

  /// Until it is complete, or only until it has ended.
  static FusedReduction::Outcome await(FusedReduction& part, bool launches_again = true) {
    auto outcome = FusedReduction::Outcome::pending;
    while (outcome == FusedReduction::Outcome::pending) {
      EXPECT_TRUE(part.query(outcome).ok());
      std::this_thread::yield();
      if (outcome != FusedReduction::Outcome::waiting || !launches_again) continue;
      EXPECT_TRUE(part.launch_again().ok());
      outcome = FusedReduction::Outcome::pending;
    }
    return outcome;
  }

  std::array<SymmetricMemory, 2> memory_;
  std::array<std::unique_ptr<FusedReduction>, 2> parts_;
};

std::vector<std::uint8_t> bytes_of(const std::vector<float>& vector) {
  std::vector<std::uint8_t> bytes(vector.size() * sizeof(float));
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  return bytes;
}

TEST_P(FusedReductions, of_any_length_follow_each_other) {
  constexpr std::size_t most = 5000;
  const GpuMemory first(BufferKind::device, most * sizeof(float), 0);
  const GpuMemory second(BufferKind::device, most * sizeof(float), 1);
  unsigned round = 0;
  for (const std::size_t count :
       {1u, 3u, 4u, 128u, 129u, 1u, 2u, 5000u, 7u, 4097u, 5u, 6u, 7u, 8u, 9u, 10u, 5000u}) {
    ++round;
    const std::array<const GpuMemory*, 2> all = {&first, &second};
    std::vector<float> expected(count);
    for (int device = 0; device < 2; ++device) {
      const std::vector<float> own = vector_of(device, count, round);
      std::vector<std::uint8_t> whole(most * sizeof(float), guard_byte);
      std::memcpy(whole.data(), own.data(), count * sizeof(float));
      all[static_cast<std::size_t>(device)]->write(whole);
      for (std::size_t i = 0; i < count; ++i) expected[i] += own[i];
    }
    for (std::size_t own = 0; own < 2; ++own) {
      const FusedVectors vectors{all[own]->data(), all[own]->data(), count, ElementType::float32,
                                 ReductionOperation::sum};
      ASSERT_TRUE(parts_[own]->launch(vectors).ok());
    }
    for (std::size_t own = 0; own < 2; ++own) {
      EXPECT_EQ(await(*parts_[own]), FusedReduction::Outcome::complete);
      std::vector<std::uint8_t> seen = all[own]->read();
      const std::uint8_t behind = count < most ? seen[count * sizeof(float)] : guard_byte;
      EXPECT_EQ(behind, guard_byte);
      seen.resize(count * sizeof(float));
      EXPECT_EQ(seen, bytes_of(expected)) << count << " elements";
    }
  }
}

TEST_P(FusedReductions, whose_partner_is_late_end_and_are_launched_again) {
  constexpr std::size_t count = 900;
  const GpuMemory first(BufferKind::device, count * sizeof(float), 0);
  const GpuMemory second(BufferKind::device, count * sizeof(float), 1);
  first.write(bytes_of(vector_of(0, count, 1)));
  second.write(bytes_of(vector_of(1, count, 1)));
  const auto in_place = [&](const GpuMemory& memory) {
    return FusedVectors{memory.data(), memory.data(), count, ElementType::float32,
                        ReductionOperation::maximum};
  };
  ASSERT_TRUE(parts_[0]->launch(in_place(first)).ok());
  EXPECT_EQ(await(*parts_[0], false), FusedReduction::Outcome::waiting);
  EXPECT_EQ(first.read(), bytes_of(vector_of(0, count, 1))) << "nothing had come";
  ASSERT_TRUE(parts_[0]->launch_again().ok());
  ASSERT_TRUE(parts_[1]->launch(in_place(second)).ok());
  EXPECT_EQ(await(*parts_[1]), FusedReduction::Outcome::complete);
  EXPECT_EQ(await(*parts_[0]), FusedReduction::Outcome::complete);
  EXPECT_EQ(first.read(), second.read());
}

INSTANTIATE_TEST_SUITE_P(ByLaunchesOrAKernelThatStandsBy, FusedReductions, testing::Bool());

TEST(FusedReduction, the_largest_vector_fits_its_memory) {
  EXPECT_GE(FusedReduction::largest_vector(16u << 20, 2), 1u << 20);
  EXPECT_GE(FusedReduction::largest_vector(16u << 20, 8), 256u << 10);
  EXPECT_LT(4 * 8 * FusedReduction::largest_vector(memory_bytes, 8), memory_bytes);
}

}  // namespace
}  // namespace penstock::transports::test
