// Two parts of this process, a GPU each, that combine vectors as two processes do.
#include "transports/one_shot/one_shot_collective.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/one_shot/symmetric_memory.hpp"
#include "transports/small/resident.hpp"

namespace penstock::transports::test {
namespace {

constexpr std::size_t memory_bytes = 2u << 20;

class OneShotCollectives : public testing::TestWithParam<bool> {
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
      parts_[own] = std::make_unique<OneShotCollective>(memory_[own], own);
    }
  }
  void TearDown() override { set_linger(0); }

  static std::vector<float> vector_of(int device, std::size_t count, unsigned round) {
    std::vector<float> all(count);
    for (std::size_t i = 0; i < count; ++i)
      all[i] = static_cast<float>((i * 7 + static_cast<unsigned>(device) * 5 + round) % 13);
    return all;
  }

  static OneShotWork in_place(const GpuMemory& memory, std::size_t count, ReductionOperation operation) {
    return {memory.data(), memory.data(), equal_parts(count * sizeof(float), false),
            OneShotReduction{ElementType::float32, operation}};
  }

  /// Until it is complete, or only until it has ended.
  static OneShotCollective::Outcome await(OneShotCollective& part, bool launches_again = true) {
    auto outcome = OneShotCollective::Outcome::pending;
    while (outcome == OneShotCollective::Outcome::pending) {
      EXPECT_TRUE(part.query(outcome).ok());
      std::this_thread::yield();
      if (outcome != OneShotCollective::Outcome::waiting || !launches_again) continue;
      EXPECT_TRUE(part.launch_again().ok());
      outcome = OneShotCollective::Outcome::pending;
    }
    return outcome;
  }

  std::array<SymmetricMemory, 2> memory_;
  std::array<std::unique_ptr<OneShotCollective>, 2> parts_;
};

std::vector<std::uint8_t> bytes_of(const std::vector<float>& vector) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(vector.data());
  return {first, first + vector.size() * sizeof(float)};
}

TEST_P(OneShotCollectives, of_any_length_follow_each_other) {
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
      ASSERT_TRUE(parts_[own]->launch(in_place(*all[own], count, ReductionOperation::sum)).ok());
    }
    for (std::size_t own = 0; own < 2; ++own) {
      EXPECT_EQ(await(*parts_[own]), OneShotCollective::Outcome::complete);
      std::vector<std::uint8_t> seen = all[own]->read();
      const std::uint8_t behind = count < most ? seen[count * sizeof(float)] : guard_byte;
      EXPECT_EQ(behind, guard_byte);
      seen.resize(count * sizeof(float));
      EXPECT_EQ(seen, bytes_of(expected)) << count << " elements";
    }
  }
}

TEST_P(OneShotCollectives, whose_partner_is_late_end_and_are_launched_again) {
  constexpr std::size_t count = 900;
  const GpuMemory first(BufferKind::device, count * sizeof(float), 0);
  const GpuMemory second(BufferKind::device, count * sizeof(float), 1);
  first.write(bytes_of(vector_of(0, count, 1)));
  second.write(bytes_of(vector_of(1, count, 1)));
  const auto largest = [&](const GpuMemory& memory) {
    return in_place(memory, count, ReductionOperation::maximum);
  };
  ASSERT_TRUE(parts_[0]->launch(largest(first)).ok());
  EXPECT_EQ(await(*parts_[0], false), OneShotCollective::Outcome::waiting);
  EXPECT_EQ(first.read(), bytes_of(vector_of(0, count, 1))) << "nothing had come";
  ASSERT_TRUE(parts_[0]->launch_again().ok());
  ASSERT_TRUE(parts_[1]->launch(largest(second)).ok());
  EXPECT_EQ(await(*parts_[1]), OneShotCollective::Outcome::complete);
  EXPECT_EQ(await(*parts_[0]), OneShotCollective::Outcome::complete);
  EXPECT_EQ(first.read(), second.read());
}

/// A block for each, or one for all; of any size, also where nothing is aligned.
TEST_P(OneShotCollectives, of_blocks_put_each_in_its_place) {
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
        const OneShotWork work{sent[own].data(), received[own].data(), equal_parts(bytes, is_for_each), {}};
        ASSERT_TRUE(parts_[own]->launch(work).ok());
      }
      for (std::size_t own = 0; own < 2; ++own) {
        EXPECT_EQ(await(*parts_[own]), OneShotCollective::Outcome::complete);
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

/// What each sends to each, in bytes.
using Sizes = std::array<std::array<std::uint32_t, 2>, 2>;

OneShotParts parts_of(const Sizes& sizes, std::size_t own) {
  OneShotParts parts{};
  for (std::size_t other = 0; other < 2; ++other) {
    parts.sent[other] = sizes[own][other];
    parts.received[other] = sizes[other][own];
  }
  parts.is_for_each = true;
  parts.is_checked = true;
  return parts;
}

/// Of other sizes each, or none at all; what a rank gets lies behind one another.
TEST_P(OneShotCollectives, of_blocks_of_all_sizes_put_each_in_its_place) {
  constexpr std::size_t most = 140'000;
  const GpuMemory sent[] = {GpuMemory(BufferKind::device, most, 0), GpuMemory(BufferKind::device, most, 1)};
  const GpuMemory received[] = {GpuMemory(BufferKind::device, most, 0),
                                GpuMemory(BufferKind::device, most, 1)};
  std::vector<std::uint8_t> content[2];
  for (std::size_t own = 0; own < 2; ++own) {
    content[own].resize(most);
    for (std::size_t i = 0; i < most; ++i)
      content[own][i] = static_cast<std::uint8_t>(own * 101 + i * 7 + i / 251);
    sent[own].write(content[own]);
  }
  for (const Sizes& sizes :
       {Sizes{{{0, 1}, {0, 0}}}, Sizes{{{0, 0}, {0, 0}}}, Sizes{{{5, 17}, {100, 0}}},
        Sizes{{{0, 4000}, {16, 33}}}, Sizes{{{65536, 2}, {8, 65536}}}, Sizes{{{65535, 1}, {3, 70'000}}},
        Sizes{{{3, 65536}, {1, 1}}}, Sizes{{{0, 32'415}, {0, 0}}}, Sizes{{{0, 0}, {8, 8}}}}) {
    for (std::size_t own = 0; own < 2; ++own) {
      received[own].write(std::vector<std::uint8_t>(most, guard_byte));
      ASSERT_TRUE(
          parts_[own]->launch({sent[own].data(), received[own].data(), parts_of(sizes, own), {}}).ok());
    }
    for (std::size_t own = 0; own < 2; ++own) {
      EXPECT_EQ(await(*parts_[own]), OneShotCollective::Outcome::complete);
      std::vector<std::uint8_t> expected;
      for (std::size_t from = 0; from < 2; ++from) {
        const auto begin = content[from].begin() + (own == 0 ? 0 : sizes[from][0]);
        expected.insert(expected.end(), begin, begin + sizes[from][own]);
      }
      expected.resize(most, guard_byte);
      EXPECT_TRUE(received[own].read() == expected) << "rank " << own << " of " << sizes[0][1] << " bytes";
    }
  }
}

/// Whoever gets more or less than it expects is told so, and the next one is as good as ever.
TEST_P(OneShotCollectives, of_sizes_that_do_not_fit_together_end) {
  constexpr std::size_t bytes = 3000;
  const GpuMemory sent[] = {GpuMemory(BufferKind::device, 2 * bytes, 0),
                            GpuMemory(BufferKind::device, 2 * bytes, 1)};
  const GpuMemory received[] = {GpuMemory(BufferKind::device, 2 * bytes, 0),
                                GpuMemory(BufferKind::device, 2 * bytes, 1)};
  using Outcome = OneShotCollective::Outcome;
  for (const std::uint32_t expected : {2999u, 3000u, 0u, 3000u, 16u}) {
    for (std::size_t own = 0; own < 2; ++own) {
      OneShotParts parts = parts_of({{{8, 3000}, {8, 8}}}, own);
      if (own == 1) parts.received[0] = expected;
      ASSERT_TRUE(parts_[own]->launch({sent[own].data(), received[own].data(), parts, {}}).ok());
    }
    EXPECT_EQ(await(*parts_[0]), Outcome::complete);
    EXPECT_EQ(await(*parts_[1]), expected == 3000 ? Outcome::complete : Outcome::mismatched);
  }
}

/// To the first one only, which has a vector of each; then to each its part.
TEST_P(OneShotCollectives, of_vectors_give_each_what_it_is_to_get) {
  constexpr std::size_t count = 600;
  const GpuMemory own_vectors[] = {GpuMemory(BufferKind::device, count * sizeof(float), 0),
                                   GpuMemory(BufferKind::device, count * sizeof(float), 1)};
  const GpuMemory results[] = {GpuMemory(BufferKind::device, count * sizeof(float), 0),
                               GpuMemory(BufferKind::device, count * sizeof(float), 1)};
  std::vector<float> sum(count);
  for (int device = 0; device < 2; ++device) {
    const std::vector<float> vector = vector_of(device, count, 3);
    own_vectors[device].write(bytes_of(vector));
    for (std::size_t i = 0; i < count; ++i) sum[i] += vector[i];
  }
  for (const std::size_t of_first : {count, std::size_t{1}, std::size_t{333}, std::size_t{0}}) {
    const std::size_t shares[] = {of_first, count - of_first};
    for (std::size_t own = 0; own < 2; ++own) {
      results[own].write(std::vector<std::uint8_t>(count * sizeof(float), guard_byte));
      OneShotParts parts{};
      parts.is_for_each = true;
      for (std::size_t other = 0; other < 2; ++other) {
        parts.sent[other] = shares[other] * sizeof(float);
        parts.received[other] = shares[own] * sizeof(float);
      }
      const OneShotReduction reduction{ElementType::float32, ReductionOperation::sum};
      ASSERT_TRUE(parts_[own]->launch({own_vectors[own].data(), results[own].data(), parts, reduction}).ok());
    }
    for (std::size_t own = 0; own < 2; ++own) {
      EXPECT_EQ(await(*parts_[own]), OneShotCollective::Outcome::complete);
      const auto begin = sum.begin() + static_cast<std::ptrdiff_t>(own == 0 ? 0 : of_first);
      std::vector<std::uint8_t> expected =
          bytes_of({begin, begin + static_cast<std::ptrdiff_t>(shares[own])});
      expected.resize(count * sizeof(float), guard_byte);
      EXPECT_EQ(results[own].read(), expected) << of_first << " for the first";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ByLaunchesOrAKernelThatStandsBy, OneShotCollectives, testing::Bool());

TEST(OneShotCollective, the_largest_vector_fits_its_memory) {
  EXPECT_GE(OneShotCollective::largest_vector(16u << 20, 2), 1u << 20);
  EXPECT_GE(OneShotCollective::largest_vector(16u << 20, 8), 256u << 10);
  EXPECT_LT(4 * 8 * OneShotCollective::largest_vector(memory_bytes, 8), memory_bytes);
}

}  // namespace
}  // namespace penstock::transports::test
