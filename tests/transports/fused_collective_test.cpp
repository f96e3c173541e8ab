// Two parts of this process, a GPU each, that combine vectors as two processes do.
#include "transports/fused/fused_collective.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/fused/symmetric_memory.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::transports::test {
namespace {

constexpr std::size_t memory_bytes = 2u << 20;

class FusedCollectives : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (device_count() < 2) GTEST_SKIP() << "needs two GPUs, as kernels that wait for each other do";
    set_linger(GetParam() ? 1'000'000 : 0);
    std::array<SymmetricPart, 2> told;
    for (std::size_t own = 0; own < 2; ++own) {
      const auto device = static_cast<int>(own);
      if (!enable_peer_access(device, 1 - device)) GTEST_SKIP() << "no peer access";
      ASSERT_TRUE(SymmetricMemory::make(cuda::Context::any(device), memory_bytes, memory_[own]).ok());
      told[own] = memory_[own].part();
    }
    for (std::size_t own = 0; own < 2; ++own) {
      ASSERT_TRUE(memory_[own].open(told, own).ok());
      parts_[own] = std::make_unique<FusedCollective>(memory_[own], own);
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
  static FusedCollective::Outcome await(FusedCollective& part, bool launches_again = true) {
    auto outcome = FusedCollective::Outcome::pending;
    while (outcome == FusedCollective::Outcome::pending) {
      EXPECT_TRUE(part.query(outcome).ok());
      std::this_thread::yield();
      if (outcome != FusedCollective::Outcome::waiting || !launches_again) continue;
      EXPECT_TRUE(part.launch_again().ok());
      outcome = FusedCollective::Outcome::pending;
    }
    return outcome;
  }

  std::array<SymmetricMemory, 2> memory_;
  std::array<std::unique_ptr<FusedCollective>, 2> parts_;
};

std::vector<std::uint8_t> bytes_of(const std::vector<float>& vector) {
  std::vector<std::uint8_t> bytes(vector.size() * sizeof(float));
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  return bytes;
}

TEST_P(FusedCollectives, of_any_length_follow_each_other) {
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
      EXPECT_EQ(await(*parts_[own]), FusedCollective::Outcome::complete);
      std::vector<std::uint8_t> seen = all[own]->read();
      const std::uint8_t behind = count < most ? seen[count * sizeof(float)] : guard_byte;
      EXPECT_EQ(behind, guard_byte);
      seen.resize(count * sizeof(float));
      EXPECT_EQ(seen, bytes_of(expected)) << count << " elements";
    }
  }
}

TEST_P(FusedCollectives, whose_partner_is_late_end_and_are_launched_again) {
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
  EXPECT_EQ(await(*parts_[0], false), FusedCollective::Outcome::waiting);
  EXPECT_EQ(first.read(), bytes_of(vector_of(0, count, 1))) << "nothing had come";
  ASSERT_TRUE(parts_[0]->launch_again().ok());
  ASSERT_TRUE(parts_[1]->launch(in_place(second)).ok());
  EXPECT_EQ(await(*parts_[1]), FusedCollective::Outcome::complete);
  EXPECT_EQ(await(*parts_[0]), FusedCollective::Outcome::complete);
  EXPECT_EQ(first.read(), second.read());
}

/// A block for each, or one for all; of any size, also where nothing is aligned.
TEST_P(FusedCollectives, of_blocks_put_each_in_its_place) {
  constexpr std::size_t most = 20'000;
  const GpuMemory sent[] = {GpuMemory(BufferKind::device, 2 * most, 0),
                            GpuMemory(BufferKind::device, 2 * most, 1)};
  const GpuMemory received[] = {GpuMemory(BufferKind::device, 2 * most, 0),
                                GpuMemory(BufferKind::device, 2 * most, 1)};
  const auto byte_of = [](std::size_t from, std::size_t index, std::size_t round) {
    return static_cast<std::uint8_t>(from * 101 + index * 3 + round);
  };
  for (const bool is_for_each : {false, true}) {
    std::size_t round = 0;
    for (const std::size_t bytes : {1u, 8u, 15u, 16u, 17u, 4096u, 5000u, 20'000u, 1u, 48u}) {
      ++round;
      for (std::size_t own = 0; own < 2; ++own) {
        std::vector<std::uint8_t> content(2 * most);
        for (std::size_t i = 0; i < content.size(); ++i) content[i] = byte_of(own, i, round);
        sent[own].write(content);
        received[own].write(std::vector<std::uint8_t>(2 * most, guard_byte));
      }
      for (std::size_t own = 0; own < 2; ++own) {
        ASSERT_TRUE(parts_[own]
                        ->launch(FusedBlocks{sent[own].data(), received[own].data(), bytes, is_for_each})
                        .ok());
      }
      for (std::size_t own = 0; own < 2; ++own) {
        EXPECT_EQ(await(*parts_[own]), FusedCollective::Outcome::complete);
        std::vector<std::uint8_t> expected(2 * most, guard_byte);
        for (std::size_t from = 0; from < 2; ++from) {
          for (std::size_t i = 0; i < bytes; ++i)
            expected[from * bytes + i] = byte_of(from, i + (is_for_each ? own * bytes : 0), round);
        }
        EXPECT_EQ(received[own].read(), expected) << bytes << " bytes";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ByLaunchesOrAKernelThatStandsBy, FusedCollectives, testing::Bool());

TEST(FusedCollective, the_largest_vector_fits_its_memory) {
  EXPECT_GE(FusedCollective::largest_vector(16u << 20, 2), 1u << 20);
  EXPECT_GE(FusedCollective::largest_vector(16u << 20, 8), 256u << 10);
  EXPECT_LT(4 * 8 * FusedCollective::largest_vector(memory_bytes, 8), memory_bytes);
}

}  // namespace
}  // namespace penstock::transports::test
