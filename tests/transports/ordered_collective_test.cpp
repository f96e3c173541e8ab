// Collectives by kernels that stand by on two GPUs of this process: by one block of each, and by several.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/resident_waiting.hpp"
#include "transports/one_shot/one_shot_collective.hpp"
#include "transports/small/resident_copy.hpp"

namespace penstock::transports::test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Numbers = std::vector<std::uint32_t>;

constexpr std::uint64_t second_ns = 1'000'000'000;
// half of a line is stamps
constexpr std::size_t slot_bytes = 2 * (largest_one_shot_order + kernels::one_shot_line_bytes);
constexpr std::size_t largest_count = largest_one_shot_order / sizeof(std::uint32_t);

Bytes bytes_of(const void* data, std::size_t bytes) {
  Bytes all(bytes);
  std::memcpy(all.data(), data, bytes);
  return all;
}

/// What one of two processes would have.
struct Side {
  explicit Side(int device)
      : slots(BufferKind::device, kernels::one_shot_sets * 2 * slot_bytes, device),
        route(BufferKind::device, sizeof(kernels::OneShotRoute), device),
        vector(BufferKind::device, largest_one_shot_order + 16, device),
        copy(context_of(device)) {
    slots.write(Bytes(slots.bytes(), 0));
  }

  static cuda::ContextRef context_of(int device) {
    use_device(device);
    return cuda::Context::any(device);
  }

  GpuMemory slots;
  GpuMemory route;
  GpuMemory vector;
  ResidentCopy copy;
};

class OrderedCollectives : public testing::TestWithParam<ResidentCopy::Size> {
 protected:
  void SetUp() override {
    if (device_count() < 2) GTEST_SKIP() << "needs two GPUs, as kernels that wait for each other do";
    for (int device = 0; device < 2; ++device) {
      if (!enable_peer_access(device, 1 - device)) GTEST_SKIP() << "no peer access";
      sides_[static_cast<std::size_t>(device)] = std::make_unique<Side>(device);
    }
    for (std::size_t own = 0; own < 2; ++own) {
      kernels::OneShotRoute route{};
      const auto slot = [&](std::size_t part_of, std::size_t vector_of) {
        return reinterpret_cast<std::uint64_t>(sides_[part_of]->slots.data()) + vector_of * slot_bytes;
      };
      for (std::size_t rank = 0; rank < 2; ++rank) {
        route.outgoing[rank] = slot(rank, own);
        route.incoming[rank] = slot(own, rank);
      }
      route.set_bytes = 2 * slot_bytes;
      route.ranks = 2;
      sides_[own]->route.write(bytes_of(&route, sizeof route));
    }
  }

  static Numbers numbers_of(std::size_t rank, std::uint32_t stamp, std::size_t count) {
    Numbers numbers(count);
    for (std::size_t i = 0; i < count; ++i)
      numbers[i] = static_cast<std::uint32_t>(i * 2654435761u + rank * 40503u + stamp * 97u);
    return numbers;
  }

  static OneShotOrder order_of(const Side& side, std::uint32_t stamp, std::size_t count) {
    OneShotOrder order;
    order.own = order.to = side.vector.data();
    order.parts = equal_parts(count * sizeof(std::uint32_t), false);
    order.route = static_cast<const kernels::OneShotRoute*>(side.route.data());
    order.stamp = stamp;
    order.combined = 2;
    order.type = kernels::ResidentType::uint32;
    order.operation = kernels::ReductionOperation::sum;
    return order;
  }

  /// A vector's bytes and what is behind it.
  [[nodiscard]] Bytes content_of(const Numbers& numbers) const {
    Bytes content(sides_[0]->vector.bytes(), guard_byte);
    std::memcpy(content.data(), numbers.data(), numbers.size() * sizeof(std::uint32_t));
    return content;
  }
  [[nodiscard]] Bytes sum_of_both(std::uint32_t stamp, std::size_t count) const {
    Numbers sum = numbers_of(0, stamp, count);
    const Numbers others = numbers_of(1, stamp, count);
    for (std::size_t i = 0; i < count; ++i) sum[i] += others[i];
    return content_of(sum);
  }

  void launch(std::uint64_t idle_ns, std::uint32_t stamp, std::size_t count) {
    for (std::size_t rank = 0; rank < 2; ++rank) {
      Side& side = *sides_[rank];
      use_device(static_cast<int>(rank));
      side.vector.write(content_of(numbers_of(rank, stamp, count)));
      EXPECT_TRUE(side.copy.launch(side.vector.data(), {idle_ns, idle_ns, 60 * second_ns}, GetParam()).ok());
    }
  }

  /// In place. False: some block did not wait long enough for what the other side was ordered later.
  [[nodiscard]] bool add_up(std::uint32_t stamp, std::size_t count) {
    launch(20 * second_ns, stamp, count);
    for (auto& side : sides_)
      EXPECT_TRUE(comes_true([&] { return side->copy.is_ready_for(order_of(*side, stamp, count)); }));
    for (auto& side : sides_) side->copy.order(order_of(*side, stamp, count));
    bool was_complete = true;
    for (auto& side : sides_) {
      EXPECT_EQ(outcome_of(side->copy), ResidentCopy::Outcome::copied);
      was_complete = was_complete && !side->copy.was_incomplete();
      send_away(side->copy);
    }
    return was_complete;
  }

  std::array<std::unique_ptr<Side>, 2> sides_;
};

TEST_P(OrderedCollectives, of_any_length_add_up_on_both_sides) {
  const std::size_t most = GetParam() == ResidentCopy::Size::one_block
                               ? largest_unshared_one_shot_order / sizeof(std::uint32_t)
                               : largest_count;
  std::uint32_t stamp = 0;
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{130}, std::size_t{2049}, std::size_t{4001}, most, std::size_t{7}, most}) {
    while (!add_up(++stamp, count)) {
    }
    const Bytes expected = sum_of_both(stamp, count);
    for (const auto& side : sides_) EXPECT_TRUE(side->vector.read() == expected) << count << " numbers";
  }
}

/// A launch would begin anew what was missed, from the vector that is there.
TEST_P(OrderedCollectives, that_meet_them_leaving_are_done_whole_or_not_at_all) {
  constexpr std::size_t count = 4000;
  constexpr std::uint64_t idle_ns = 100'000;
  std::mt19937 random(7);
  for (std::uint32_t stamp = 1; stamp <= 30; ++stamp) {
    launch(idle_ns, stamp, count);
    const auto is_ready = [&](const Side& side) {
      return side.copy.is_ready_for(order_of(side, stamp, count));
    };
    for (auto& side : sides_)
      EXPECT_TRUE(comes_true([&] { return is_ready(*side) || side->copy.is_over(); }));
    std::this_thread::sleep_for(std::chrono::nanoseconds(random() % (2 * idle_ns)));
    std::array<bool, 2> is_ordered{};
    for (std::size_t rank = 0; rank < 2; ++rank) {
      is_ordered[rank] = is_ready(*sides_[rank]);
      if (is_ordered[rank]) sides_[rank]->copy.order(order_of(*sides_[rank], stamp, count));
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
      Side& side = *sides_[rank];
      const bool is_done = is_ordered[rank] && outcome_of(side.copy) == ResidentCopy::Outcome::copied;
      const bool is_complete = is_done && !side.copy.was_incomplete();
      EXPECT_TRUE(comes_true([&] { return side.copy.is_over(); }));
      // of one that was incomplete the first lines may be there
      if (is_done && !is_complete) continue;
      const Bytes expected =
          is_complete ? sum_of_both(stamp, count) : content_of(numbers_of(rank, stamp, count));
      ASSERT_TRUE(side.vector.read() == expected) << "stamp " << stamp << ", complete: " << is_complete;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(ByOneBlockOrSeveral, OrderedCollectives,
                         testing::Values(ResidentCopy::Size::one_block, ResidentCopy::Size::several_blocks),
                         [](const auto& size) {
                           return size.param == ResidentCopy::Size::one_block ? "by_one_block"
                                                                              : "by_several_blocks";
                         });

TEST(OrderedCollective, of_more_than_one_block_takes_is_for_several) {
  Side side(0);
  ASSERT_TRUE(side.copy
                  .launch(side.vector.data(), {20 * second_ns, 20 * second_ns, 60 * second_ns},
                          ResidentCopy::Size::one_block)
                  .ok());
  OneShotOrder order;
  order.own = order.to = side.vector.data();
  order.parts = equal_parts(largest_unshared_one_shot_order, false);
  EXPECT_TRUE(comes_true([&] { return side.copy.is_ready_for(order); }));
  order.parts = equal_parts(largest_unshared_one_shot_order + 16, false);
  EXPECT_FALSE(side.copy.is_ready_for(order));
  send_away(side.copy);
}

}  // namespace
}  // namespace penstock::transports::test
