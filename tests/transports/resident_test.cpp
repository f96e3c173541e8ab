// The kernel that stands by: what it is told is copied once and whole, it leaves when it should, and an order
// that it misses is told as missed. When it is launched, and that a pull arrives whichever way it goes.
#include "transports/small/resident.hpp"
#include "transports/copy_selection/start_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.hpp"
#include "tests/transports/busy_stream.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/resident_waiting.hpp"
#include "tests/transports/strided_cases.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/resident_copy.hpp"

namespace penstock::transports::test {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::uint8_t>;
using Outcome = ResidentCopy::Outcome;

constexpr std::uint64_t second_ns = 1'000'000'000;

Bytes payload(std::size_t bytes, std::uint64_t seed) {
  Bytes result(bytes);
  for (std::size_t i = 0; i < bytes; ++i) result[i] = payload_byte(seed, i);
  return result;
}

/// Whoever is in which call.
kernels::ResidentLimits stay(std::uint64_t idle_ns, std::uint64_t life_ns) {
  return {idle_ns, idle_ns, life_ns};
}

char* at(const GpuMemory& memory, std::size_t offset) {
  return static_cast<char*>(memory.data()) + offset;
}

cuda::ContextRef context_of_device_0() {
  use_device(0);
  return cuda::Context::any(0);
}

// While a kernel stands by, nothing here may wait for the device, as GpuMemory does.

TEST(ResidentCopy, copies_any_size_at_any_alignment_and_nothing_else) {
  ResidentCopy copy(context_of_device_0());
  constexpr std::size_t sizes[] = {1, 2, 15, 16, 17, 255, 2048, 2049, 4096, 16385, 65536};
  constexpr std::size_t offsets[] = {0, 1, 2, 4, 8, 11};
  constexpr std::size_t area_bytes = 65536 + 64;
  const GpuMemory source(BufferKind::device, area_bytes);
  const GpuMemory target(BufferKind::device, std::size(sizes) * std::size(offsets) * area_bytes);
  const Bytes content = payload(source.bytes(), 5);
  Bytes wanted(target.bytes(), guard_byte);
  source.write(content);
  target.write(wanted);
  ASSERT_TRUE(copy.launch(target.data(), stay(30 * second_ns, 60 * second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
  std::size_t area = 0;
  for (const std::size_t size : sizes) {
    for (const std::size_t offset : offsets) {
      copy.order(at(target, area + offset), at(source, 3), static_cast<std::uint32_t>(size));
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      std::copy_n(content.begin() + 3, size, wanted.begin() + static_cast<std::ptrdiff_t>(area + offset));
      area += area_bytes;
    }
  }
  EXPECT_EQ(copy.orders_of_launch(), std::size(sizes) * std::size(offsets));
  send_away(copy);
  EXPECT_EQ(target.read(), wanted);
}

TEST(ResidentCopy, copies_layouts_in_pieces_that_its_words_can_tell) {
  ResidentCopy copy(context_of_device_0());
  const std::size_t cases = std::size(strided_cases);
  const GpuMemory source(BufferKind::device, strided_cases_bytes);
  const GpuMemory target(BufferKind::device, cases * strided_cases_bytes);
  const Bytes content = payload(source.bytes(), 6);
  Bytes wanted(target.bytes(), guard_byte);
  source.write(content);
  target.write(wanted);
  ASSERT_TRUE(copy.launch(target.data(), stay(30 * second_ns, 60 * second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
  for (std::size_t i = 0; i < cases; ++i) {
    const StridedCase& each = strided_cases[i];
    const CopyItem item = each.item(at(target, i * strided_cases_bytes), source.data());
    const bool is_told = each.to.begin == 0 && each.from.begin == 0 && each.from.loops.depth < 3;
    ASSERT_EQ(copy.is_ready_for(item), is_told) << each.name;
    if (!is_told) continue;
    copy.order(item);
    ASSERT_EQ(outcome_of(copy), Outcome::copied) << each.name;
    Bytes area(strided_cases_bytes, guard_byte);
    each.copy(content, area);
    std::ranges::copy(area, wanted.begin() + static_cast<std::ptrdiff_t>(i * strided_cases_bytes));
  }
  send_away(copy);
  EXPECT_EQ(target.read(), wanted);
}

/// A kernel of several blocks, all of which run.
void launch_to_share(ResidentCopy& copy, const GpuMemory& memory) {
  ASSERT_TRUE(
      copy.launch(memory.data(), stay(30 * second_ns, 60 * second_ns), ResidentCopy::Size::several_blocks)
          .ok());
  const std::uint64_t bytes = std::min<std::uint64_t>(memory.bytes(), kernels::largest_shared_order);
  ASSERT_TRUE(comes_true([&] { return copy.is_ready_for(memory.data(), memory.data(), bytes); }));
}

TEST(ResidentCopy, several_blocks_share_what_is_large_and_aligned) {
  ResidentCopy copy(context_of_device_0());
  constexpr std::uint32_t sizes[] = {kernels::least_shared_order,
                                     65536,
                                     65537,
                                     99'991,
                                     1u << 20,
                                     (2u << 20) + 16,
                                     kernels::largest_shared_order - 1,
                                     kernels::largest_shared_order};
  const GpuMemory source(BufferKind::device, kernels::largest_shared_order + 48);
  const GpuMemory target(BufferKind::device, kernels::largest_shared_order);
  const GpuMemory arrived(BufferKind::device, std::size(sizes) * target.bytes());
  const Bytes content = payload(source.bytes(), 5);
  Bytes wanted(arrived.bytes(), guard_byte);
  source.write(content);
  arrived.write(wanted);
  launch_to_share(copy, target);
  for (std::size_t i = 0; i < std::size(sizes); ++i) {
    const std::size_t area = i * target.bytes();
    ASSERT_TRUE(copy.is_ready_for(at(arrived, area), at(source, 48), sizes[i]));
    copy.order(at(arrived, area), at(source, 48), sizes[i]);
    ASSERT_EQ(outcome_of(copy), Outcome::copied);
    std::copy_n(content.begin() + 48, sizes[i], wanted.begin() + static_cast<std::ptrdiff_t>(area));
  }
  send_away(copy);
  EXPECT_TRUE(arrived.read() == wanted);
}

/// Rows of `row_bytes`, of which every second place is left free.
CopySide every_second(std::uint32_t row_bytes, std::size_t bytes) {
  const auto rows = static_cast<std::uint32_t>(bytes / row_bytes) + 1;
  return {{.row_bytes = row_bytes, .depth = 1, .counts = {rows}, .strides = {2 * row_bytes}}};
}

TEST(ResidentCopy, several_blocks_share_large_layouts_in_pieces) {
  ResidentCopy copy(context_of_device_0());
  constexpr std::uint32_t largest = kernels::largest_shared_strided_order;
  struct Case {
    std::uint32_t bytes;
    std::uint32_t row_bytes;
    bool gathers;
  };
  constexpr Case cases[] = {{kernels::least_shared_strided_order, 1, true},
                            {65'536, 8, false},
                            {65'537, 1, true},
                            {65'552, 16, false},
                            {99'990, 3, true},
                            {131'072, 4, true},
                            {300'000, 96, false},
                            {largest - 8, 8, true},
                            {largest, 4, false}};
  constexpr std::size_t area_bytes = 2 * largest + 256;
  const GpuMemory source(BufferKind::device, area_bytes);
  const GpuMemory target(BufferKind::device, area_bytes * std::size(cases));
  const Bytes content = payload(source.bytes(), 7);
  Bytes wanted(target.bytes(), guard_byte);
  source.write(content);
  target.write(wanted);
  launch_to_share(copy, target);
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    const Case& each = cases[i];
    const std::size_t area = i * area_bytes + 16;
    CopyItem item{at(target, area), at(source, 32), each.bytes};
    (each.gathers ? item.from_side : item.to_side) = every_second(each.row_bytes, each.bytes);
    ASSERT_TRUE(copy.is_ready_for(item));
    copy.order(item);
    ASSERT_EQ(outcome_of(copy), Outcome::copied);
    for (std::size_t byte = 0; byte < each.bytes; ++byte)
      wanted[area + offset_of(item.to_side, byte)] = content[32 + offset_of(item.from_side, byte)];
  }
  CopyItem too_large{at(target, 0), at(source, 0), largest + 1};
  too_large.from_side = every_second(1, too_large.bytes);
  EXPECT_FALSE(copy.is_ready_for(too_large));
  send_away(copy);
  EXPECT_TRUE(target.read() == wanted);
}

TEST(ResidentCopy, one_block_takes_layouts_in_pieces_up_to_a_size) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory memory(BufferKind::device, 4 * kernels::largest_order);
  CopyItem item{at(memory, 0), at(memory, 0), kernels::largest_order};
  item.from_side = every_second(8, item.bytes);
  ASSERT_TRUE(copy.launch(memory.data(), stay(30 * second_ns, 60 * second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_ready_for(item); }));
  item.bytes += 8;
  EXPECT_FALSE(copy.is_ready_for(item));
  send_away(copy);
}

TEST(ResidentCopy, is_ready_only_for_what_it_can_copy) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory memory(BufferKind::device, kernels::largest_shared_order);
  char* const begin = at(memory, 0);
  EXPECT_FALSE(copy.is_ready_for(begin, begin, 1));
  launch_to_share(copy, memory);
  EXPECT_TRUE(copy.is_ready_for(begin + 1, begin, 1));
  EXPECT_TRUE(copy.is_ready_for(begin + 1, begin, kernels::largest_order));
  EXPECT_FALSE(copy.is_ready_for(begin + 8, begin, kernels::largest_order + 1));
  EXPECT_FALSE(copy.is_ready_for(begin, begin + 8, kernels::largest_order + 1));
  EXPECT_FALSE(copy.is_ready_for(begin, begin, kernels::largest_shared_order + 1));
  EXPECT_FALSE(copy.is_ready_for(begin, begin, 0));
  send_away(copy);
  ASSERT_TRUE(copy.launch(memory.data(), stay(30 * second_ns, 60 * second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_ready_for(begin, begin, kernels::largest_order); }));
  EXPECT_FALSE(copy.is_ready_for(begin, begin, kernels::largest_order + 1)) << "by one block";
  send_away(copy);
}

TEST(ResidentCopy, orders_of_both_kinds_follow_each_other_over_several_launches) {
  ResidentCopy copy(context_of_device_0());
  constexpr std::size_t orders = 24;
  // those that end in 2 in rows of two bytes
  constexpr std::uint32_t sizes[] = {8, 70'000, 70'002, 4096, 30'002, 70'002, 65'536, 16, 33'000};
  constexpr std::size_t area_bytes = 70'016;
  const GpuMemory source(BufferKind::device, area_bytes * orders);
  const GpuMemory target(BufferKind::device, area_bytes * orders);
  for (int launch = 0; launch < 8; ++launch) {
    const Bytes content = payload(source.bytes(), static_cast<std::uint64_t>(launch));
    Bytes wanted(target.bytes(), guard_byte);
    source.write(content);
    target.write(wanted);
    launch_to_share(copy, target);
    for (std::size_t order = 0; order < orders; ++order) {
      const std::uint32_t size = sizes[(order + static_cast<std::size_t>(launch)) % std::size(sizes)];
      const std::size_t area = order * area_bytes;
      if (size % 10 == 2) {
        CopyItem item{at(target, area), at(source, area), size};
        item.to_side = item.from_side = {{.row_bytes = 2, .depth = 1, .counts = {size / 2}, .strides = {2}}};
        copy.order(item);
      } else {
        copy.order(at(target, area), at(source, area), size);
      }
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      const auto begin = static_cast<std::ptrdiff_t>(area);
      std::copy_n(content.begin() + begin, size, wanted.begin() + begin);
    }
    send_away(copy);
    ASSERT_TRUE(target.read() == wanted) << "launch " << launch;
  }
}

TEST(ResidentCopy, numbers_that_come_again_are_no_orders_of_before) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory source(BufferKind::device, 65536);
  const GpuMemory target(BufferKind::device, 65536);
  const Bytes content = payload(source.bytes(), 1);
  source.write(content);
  std::uint64_t launches = 0;
  for (std::uint64_t order = 0; order <= 2 * kernels::number_mask; ++order) {
    if (!copy.is_ready_for(at(target, 0), at(source, 0), source.bytes())) {
      ASSERT_TRUE(comes_true([&] { return copy.is_over(); })) << "after " << order << " orders";
      ASSERT_NO_FATAL_FAILURE(launch_to_share(copy, target));
      ++launches;
    }
    // shared once in a while, so that the other blocks see few of the numbers; and down to host memory, most
    // of whose words are seldom written
    const bool is_large = order % 5000 == 0;
    const auto down_bytes = static_cast<std::uint32_t>(order % 4999 == 1 ? 4096 : 12);
    const std::size_t offset = order % 97;
    Bytes arrived(down_bytes);
    if (order % 2 == 1) {
      copy.order_download(arrived.data(), at(source, offset), down_bytes);
    } else {
      copy.order(at(target, 0), at(source, 0), is_large ? 65536 : 16);
    }
    const Outcome outcome = outcome_of(copy);
    ASSERT_TRUE(outcome == Outcome::copied || (outcome == Outcome::missed && !copy.is_ready())) << order;
    if (order % 2 == 1 && outcome == Outcome::copied) {
      ASSERT_TRUE(
          std::equal(arrived.begin(), arrived.end(), content.begin() + static_cast<std::ptrdiff_t>(offset)))
          << order;
    }
  }
  EXPECT_GT(launches, 2 * kernels::number_mask / kernels::most_orders - 1);
  send_away(copy);
}

TEST(ResidentCopy, a_shared_order_that_meets_them_leaving_is_copied_whole_or_missed) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory source(BufferKind::device, 100'000);
  const GpuMemory target(BufferKind::device, 100'000);
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    const Bytes content = payload(source.bytes(), static_cast<std::uint64_t>(round));
    source.write(content);
    target.write(Bytes(target.bytes(), guard_byte));
    const std::uint64_t linger_ns = 100'000;
    ASSERT_TRUE(
        copy.launch(target.data(), stay(linger_ns, second_ns), ResidentCopy::Size::several_blocks).ok());
    const auto is_ready = [&] { return copy.is_ready_for(target.data(), source.data(), source.bytes()); };
    ASSERT_TRUE(comes_true([&] { return is_ready() || copy.is_over(); }));
    std::this_thread::sleep_for(std::chrono::nanoseconds(random() % (2 * linger_ns)));
    auto outcome = Outcome::missed;
    if (is_ready()) {
      copy.order(target.data(), source.data(), 100'000);
      outcome = outcome_of(copy);
    }
    ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
    if (outcome == Outcome::copied) {
      ASSERT_TRUE(target.read() == content) << "round " << round;
    }
  }
}

TEST(ResidentCopy, downloads_and_uploads_any_size_at_any_alignment_and_nothing_else) {
  ResidentCopy copy(context_of_device_0());
  constexpr std::uint32_t sizes[] = {1,
                                     2,
                                     4,
                                     7,
                                     8,
                                     63,
                                     kernels::largest_beside - 1,
                                     kernels::largest_beside,
                                     kernels::largest_beside + 1,
                                     512,
                                     513,
                                     2049,
                                     kernels::largest_down - 3,
                                     kernels::largest_down,
                                     kernels::largest_down + 1,
                                     kernels::bounce_bytes};
  constexpr std::uint32_t offsets[] = {0, 1, 2, 4, 11};
  constexpr std::uint32_t guard = 16;
  const GpuMemory source(BufferKind::device, kernels::bounce_bytes + 64);
  const GpuMemory target(BufferKind::device, kernels::bounce_bytes + 64);
  const Bytes content = payload(source.bytes(), 8);
  source.write(content);
  const Bytes untouched(guard, guard_byte);
  ASSERT_TRUE(copy.launch(source.data(), stay(60 * second_ns, 120 * second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
  std::uint64_t seed = 0;
  for (const std::uint32_t size : sizes) {
    for (const std::uint32_t offset : offsets) {
      ASSERT_TRUE(copy.is_ready_for_host(at(source, offset), size));
      Bytes arrived(size + guard, guard_byte);
      copy.order_download(arrived.data(), at(source, offset), size);
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      Bytes wanted(content.begin() + offset, content.begin() + offset + size);
      wanted.insert(wanted.end(), untouched.begin(), untouched.end());
      ASSERT_EQ(arrived, wanted) << size << " bytes at " << offset;
      // with guards around it: what lies around it must stay
      const std::uint32_t around_bytes = offset + size + guard;
      Bytes area(around_bytes, guard_byte);
      copy.order_upload(target.data(), area.data(), std::min(around_bytes, kernels::bounce_bytes));
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      const Bytes sent = payload(size, ++seed);
      copy.order_upload(at(target, offset), sent.data(), size);
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      std::copy(sent.begin(), sent.end(), area.begin() + offset);
      Bytes back(std::min(around_bytes, kernels::bounce_bytes));
      area.resize(back.size());
      copy.order_download(back.data(), target.data(), static_cast<std::uint32_t>(back.size()));
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      ASSERT_EQ(back, area) << size << " bytes to " << offset;
    }
  }
  EXPECT_FALSE(copy.is_ready_for_host(source.data(), kernels::bounce_bytes + 1));
  EXPECT_FALSE(copy.is_ready_for_host(source.data(), 0));
  send_away(copy);
}

/// Elements of one type in device memory: what an update combines, what it is compared with, the target, and
/// its earlier values.
template <typename T>
class Updated {
 public:
  explicit Updated(const std::vector<T>& target, const std::vector<T>& operand,
                   const std::vector<T>& compared)
      : count_(target.size()), memory_(BufferKind::device, 4 * target.size() * sizeof(T) + sizeof(T)) {
    std::vector<T> all(4 * count_ + 1, T{99});
    std::ranges::copy(target, all.data());
    std::ranges::copy(operand, all.data() + count_);
    std::ranges::copy(compared, all.data() + 2 * count_);
    Bytes bytes(memory_.bytes());
    std::memcpy(bytes.data(), all.data(), bytes.size());
    memory_.write(bytes);
  }
  [[nodiscard]] UpdateOrder order(kernels::UpdateKind kind, std::size_t count) const {
    UpdateOrder order;
    order.target = memory_.data();
    order.operand.address = at(memory_, count_ * sizeof(T));
    order.compared.address = at(memory_, 2 * count_ * sizeof(T));
    order.result = at(memory_, 3 * count_ * sizeof(T));
    order.bytes = static_cast<std::uint32_t>(count * sizeof(T));
    order.element_bytes = sizeof(T);
    order.kind = kind;
    return order;
  }
  void expect(const std::vector<T>& target, const std::vector<T>& earlier) const {
    const Bytes bytes = memory_.read();
    std::vector<T> all(4 * count_ + 1);
    std::memcpy(all.data(), bytes.data(), bytes.size());
    EXPECT_EQ(std::vector<T>(all.data(), all.data() + count_), target);
    EXPECT_EQ(std::vector<T>(all.data() + 3 * count_, all.data() + 4 * count_), earlier);
    EXPECT_EQ(all.back(), T{99});
  }
  [[nodiscard]] const GpuMemory& memory() const { return memory_; }

 private:
  std::size_t count_;
  GpuMemory memory_;
};

TEST(ResidentCopy, updates_elements_in_place_and_returns_what_they_were) {
  using kernels::ResidentType;
  using kernels::UpdateKind;
  using Operation = kernels::ReductionOperation;
  ResidentCopy copy(context_of_device_0());
  const Updated<std::int32_t> sums({1, 2, -3, 4}, {10, 20, 30, 40}, {});
  const Updated<double> maxima({1.5, 2.5}, {2.0, 2.0}, {});
  const Updated<std::uint8_t> replaced({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {});
  const Updated<std::uint16_t> kept({7, 8}, {}, {});
  const Updated<std::uint64_t> swapped({5, 6}, {50, 60}, {5, 7});
  const std::vector<std::int64_t> many(kernels::largest_update / 8, 1);
  const Updated<std::int64_t> largest(many, many, {});
  const Updated<std::uint32_t> counter({40}, {}, {});
  ASSERT_TRUE(copy.launch(sums.memory().data(), stay(30 * second_ns, 60 * second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
  const auto carry_out = [&](const UpdateOrder& order) {
    ASSERT_TRUE(copy.is_ready_for(order));
    copy.order(order);
    ASSERT_EQ(outcome_of(copy), Outcome::copied);
  };
  UpdateOrder order = sums.order(UpdateKind::combine, 3);
  order.type = ResidentType::int32;
  order.operation = Operation::sum;
  carry_out(order);
  order = maxima.order(UpdateKind::combine, 2);
  order.type = ResidentType::float64;
  order.operation = Operation::maximum;
  carry_out(order);
  carry_out(replaced.order(UpdateKind::replace, 4));
  carry_out(kept.order(UpdateKind::keep, 2));
  carry_out(swapped.order(UpdateKind::swap, 2));
  order = largest.order(UpdateKind::combine, many.size());
  order.type = ResidentType::int64;
  order.operation = Operation::sum;
  carry_out(order);
  order.result = nullptr;
  carry_out(order);
  EXPECT_FALSE(copy.is_ready_for(largest.order(UpdateKind::keep, many.size() + 1)));

  // of host memory
  order = counter.order(UpdateKind::combine, 1);
  order.type = ResidentType::uint32;
  order.operation = Operation::sum;
  order.operand = {nullptr, 2};
  std::uint32_t found = 0;
  order.result = nullptr;
  order.host_result = &found;
  for (const std::uint32_t earlier : {40u, 42u, 44u}) {
    carry_out(order);
    EXPECT_EQ(found, earlier);
  }
  order.kind = UpdateKind::swap;
  order.operand = {nullptr, 0xffffffff};
  for (const std::uint32_t compared : {45u, 46u}) {
    order.compared = {nullptr, compared};
    carry_out(order);
    EXPECT_EQ(found, 46u);
  }
  send_away(copy);
  sums.expect({11, 22, 27, 4}, {1, 2, -3, 99});
  maxima.expect({2.0, 2.5}, {1.5, 2.5});
  replaced.expect({6, 7, 8, 9, 5}, {1, 2, 3, 4, 99});
  kept.expect({7, 8}, {7, 8});
  swapped.expect({50, 6}, {5, 6});
  largest.expect(std::vector<std::int64_t>(many.size(), 3), many);
  counter.expect({0xffffffff}, {99});
}

TEST(ResidentCopy, stamped_payloads_of_before_are_not_taken_for_new_ones) {
  ResidentCopy copy(context_of_device_0());
  constexpr std::uint32_t most = 1000;
  const GpuMemory memory(BufferKind::device, most);
  std::mt19937 random(3);
  // a race shows in any of them
  const int launches = test_support::built_with_a_sanitizer ? 3 : 10;
  for (int launch = 0; launch < launches; ++launch) {
    ASSERT_TRUE(copy.launch(memory.data(), stay(60 * second_ns, 120 * second_ns)).ok());
    ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
    for (int round = 0; round < 200; ++round) {
      const auto size = static_cast<std::uint32_t>(1 + random() % (round % 2 == 0 ? 16 : most));
      const Bytes sent = payload(size, random());
      copy.order_upload(memory.data(), sent.data(), size);
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      Bytes arrived(size);
      copy.order_download(arrived.data(), memory.data(), size);
      ASSERT_EQ(outcome_of(copy), Outcome::copied);
      ASSERT_EQ(arrived, sent) << "launch " << launch << ", round " << round;
    }
    send_away(copy);
  }
}

TEST(ResidentCopy, a_download_or_upload_that_meets_it_leaving_is_copied_or_missed) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory memory(BufferKind::device, 100);
  std::mt19937 random(7);
  int copied = 0;
  for (int round = 0; round < 200; ++round) {
    const Bytes old_content = payload(100, static_cast<std::uint64_t>(2 * round));
    const Bytes new_content = payload(100, static_cast<std::uint64_t>(2 * round + 1));
    memory.write(old_content);
    const std::uint64_t linger_ns = 100'000;
    ASSERT_TRUE(copy.launch(memory.data(), stay(linger_ns, second_ns)).ok());
    ASSERT_TRUE(comes_true([&] { return copy.is_ready() || copy.is_over(); }));
    // by looking at the clock: a sleep would take longer than that
    const std::uint64_t begin_ns = steady_now_ns();
    const std::uint64_t pause_ns = random() % (3 * linger_ns / 2);
    while (steady_now_ns() - begin_ns < pause_ns) continue;
    if (copy.is_ready()) {
      Bytes arrived(100, guard_byte);
      const bool is_download = round % 2 == 0;
      if (is_download) {
        copy.order_download(arrived.data(), memory.data(), 100);
      } else {
        copy.order_upload(memory.data(), new_content.data(), 100);
      }
      const bool is_copied = outcome_of(copy) == Outcome::copied;
      copied += is_copied ? 1 : 0;
      ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
      ASSERT_EQ(memory.read(), is_copied && !is_download ? new_content : old_content) << "round " << round;
      if (is_download && is_copied) {
        ASSERT_EQ(arrived, old_content) << "round " << round;
      }
    }
    ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
  }
  EXPECT_GT(copied, 0);
}

TEST(ResidentCopy, leaves_when_it_has_had_nothing_to_do_for_long) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory memory(BufferKind::device, 64);
  EXPECT_TRUE(copy.is_over());
  EXPECT_FALSE(copy.is_ready());
  ASSERT_TRUE(copy.launch(memory.data(), stay(second_ns / 100, 60 * second_ns)).ok());
  EXPECT_TRUE(comes_true([&] { return copy.is_over(); }));
  EXPECT_FALSE(copy.is_ready());
  EXPECT_EQ(copy.orders_of_launch(), 0u);
}

TEST(ResidentCopy, leaves_at_the_end_of_its_life_however_much_there_is_to_do) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory memory(BufferKind::device, 128);
  ASSERT_TRUE(copy.launch(memory.data(), stay(60 * second_ns, second_ns / 100)).ok());
  EXPECT_TRUE(comes_true([&] {
    if (copy.is_ready()) {
      copy.order(at(memory, 64), at(memory, 0), 64);
      static_cast<void>(outcome_of(copy));
    }
    return copy.is_over();
  }));
}

TEST(ResidentCopy, an_order_that_meets_it_leaving_is_copied_or_missed_but_never_both) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory source(BufferKind::device, 256);
  const GpuMemory target(BufferKind::device, 256);
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Bytes old_content = payload(256, static_cast<std::uint64_t>(2 * round));
    const Bytes new_content = payload(256, static_cast<std::uint64_t>(2 * round + 1));
    target.write(old_content);
    source.write(new_content);
    const std::uint64_t linger_ns = 20'000;
    ASSERT_TRUE(copy.launch(target.data(), stay(linger_ns, second_ns)).ok());
    ASSERT_TRUE(comes_true([&] { return copy.is_ready() || copy.is_over(); }));
    std::this_thread::sleep_for(std::chrono::nanoseconds(random() % (2 * linger_ns)));
    if (copy.is_ready()) {
      copy.order(target.data(), source.data(), 256);
      const Outcome outcome = outcome_of(copy);
      ASSERT_NE(outcome, Outcome::pending);
      ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
      ASSERT_EQ(target.read(), outcome == Outcome::copied ? new_content : old_content) << "round " << round;
    }
    ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
  }
}

TEST(ResidentCopy, an_order_that_comes_too_late_is_missed_and_not_executed_by_the_next_launch) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory source(BufferKind::device, 64);
  const GpuMemory target(BufferKind::device, 64);
  target.write(Bytes(64, guard_byte));
  ASSERT_TRUE(copy.launch(target.data(), stay(1, second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
  copy.order(target.data(), source.data(), 64);
  EXPECT_EQ(outcome_of(copy), Outcome::missed);
  ASSERT_TRUE(copy.launch(target.data(), stay(second_ns / 100, second_ns)).ok());
  ASSERT_TRUE(comes_true([&] { return copy.is_over(); }));
  EXPECT_EQ(target.read(), Bytes(64, guard_byte));
}

TEST(ResidentCopy, orders_of_one_launch_do_not_reach_the_next) {
  ResidentCopy copy(context_of_device_0());
  constexpr int launches = 20;
  const GpuMemory source(BufferKind::device, 64);
  const GpuMemory target(BufferKind::device, launches * 64);
  Bytes wanted(target.bytes(), guard_byte);
  target.write(wanted);
  for (int launch = 0; launch < launches; ++launch) {
    const Bytes content = payload(64, static_cast<std::uint64_t>(launch));
    source.write(content);
    ASSERT_TRUE(copy.launch(target.data(), stay(30 * second_ns, 60 * second_ns)).ok());
    ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
    std::this_thread::sleep_for(
        1ms);  // time to execute the last order once more, from what the source holds now
    copy.order(at(target, static_cast<std::size_t>(launch) * 64), source.data(), 64);
    ASSERT_EQ(outcome_of(copy), Outcome::copied);
    send_away(copy);
    std::copy(content.begin(), content.end(), wanted.begin() + launch * 64);
    ASSERT_EQ(target.read(), wanted) << "launch " << launch;
  }
}

TEST(ResidentCopy, leaves_soon_when_the_programs_thread_is_outside_of_calls) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory memory(BufferKind::device, 64);
  set_single_threaded(true);
  const kernels::ResidentLimits stays{60 * second_ns, second_ns / 1000, 60 * second_ns};
  {
    const InCall call;
    ASSERT_TRUE(copy.launch(memory.data(), stays).ok());
    ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
    std::this_thread::sleep_for(50ms);
    EXPECT_TRUE(copy.is_ready()) << "left while it was attended";
  }
  EXPECT_TRUE(comes_true([&] { return copy.is_over(); }));
  set_single_threaded(false);
  ASSERT_TRUE(copy.launch(memory.data(), stays).ok());
  EXPECT_TRUE(comes_true([&] { return copy.is_over(); })) << "stayed for a program of several threads";
}

TEST(ResidentCopy, the_thread_comes_and_goes_while_orders_are_given) {
  ResidentCopy copy(context_of_device_0());
  const GpuMemory source(BufferKind::device, 2000 * 8);
  const GpuMemory target(BufferKind::device, 2000 * 8);
  const Bytes content = payload(source.bytes(), 3);
  source.write(content);
  target.write(Bytes(target.bytes(), guard_byte));
  set_single_threaded(true);
  {
    const InCall call;
    ASSERT_TRUE(copy.launch(target.data(), {30 * second_ns, 30 * second_ns, 60 * second_ns}).ok());
    ASSERT_TRUE(comes_true([&] { return copy.is_ready(); }));
  }
  for (std::size_t order = 0; order < 2000; ++order) {
    copy.order(at(target, order * 8), at(source, order * 8), 8);
    for (auto outcome = Outcome::pending; outcome == Outcome::pending;) {
      const InCall call;
      ASSERT_TRUE(copy.query(outcome).ok());
      ASSERT_NE(outcome, Outcome::missed);
    }
  }
  send_away(copy);
  set_single_threaded(false);
  EXPECT_EQ(target.read(), content);
}

/// Small copies within one process, through what start_on_resident_kernel() gives or says.
class StandingBy : public testing::Test {
 protected:
  void SetUp() override {
    context_ = context_of_device_0();
    set_linger(second_ns);
    set_single_threaded(true);
    call_.emplace();
  }
  void TearDown() override {
    call_.reset();
    set_single_threaded(false);
    set_linger(0);
    end_resident_kernels();
  }

  [[nodiscard]] BufferView place(const GpuMemory& memory) const {
    return {inspect(memory.data()), Layout::contiguous(memory.bytes())};
  }
  [[nodiscard]] std::unique_ptr<Pull> start() {
    return start_on_resident_kernel(CopySource{source_.data(), source_.bytes()}, place(target_), context_);
  }
  void follow_each_other(int copies, bool are_shared = false) {
    for (int i = 0; i < copies; ++i) note_small_copy(context_, target_.data(), are_shared);
  }
  /// The kernel leaves at once, and not after its linger time, for which the freeing of the test's memory
  /// would wait.
  void let_kernel_leave() { call_.reset(); }
  [[nodiscard]] bool kernel_comes() {
    std::unique_ptr<Pull> pull;
    const auto deadline = std::chrono::steady_clock::now() + 100ms;
    while (pull == nullptr && std::chrono::steady_clock::now() < deadline) pull = start();
    return pull != nullptr;
  }

  std::optional<InCall> call_;  ///< else the kernel would leave within µs
  cuda::ContextRef context_;
  GpuMemory source_{(use_device(0), BufferKind::device), 4096};
  GpuMemory target_{BufferKind::device, 4096};
};

TEST_F(StandingBy, no_kernel_is_launched_for_messages_that_come_alone) {
  follow_each_other(1);
  EXPECT_FALSE(kernel_comes());
}

TEST_F(StandingBy, no_kernel_is_launched_when_none_is_wanted) {
  set_linger(0);
  follow_each_other(100);
  EXPECT_FALSE(kernel_comes());
}

TEST_F(StandingBy, a_kernel_is_launched_when_small_payloads_follow_each_other) {
  follow_each_other(20);
  EXPECT_TRUE(kernel_comes());
}

TEST_F(StandingBy, a_pull_arrives_by_the_kernel_and_also_when_that_has_just_left) {
  const Bytes content = payload(source_.bytes(), 9);
  source_.write(content);
  set_linger(2'000'000);
  for (int by_kernel = 0; by_kernel < 50; ++by_kernel) {
    std::unique_ptr<Pull> pull;
    ASSERT_TRUE(comes_true([&] {
      follow_each_other(20);
      return (pull = start()) != nullptr;
    }));
    Status state;
    bool finished = false;
    ASSERT_TRUE(comes_true([&] {
      state = pull->advance(finished);
      return finished || !state.ok();
    }));
    ASSERT_TRUE(state.ok()) << state.where();
    pull.reset();
    EXPECT_EQ(target_.read(), content);
    target_.write(Bytes(target_.bytes(), guard_byte));
  }
}

TEST_F(StandingBy, pulls_of_columns_arrive_by_the_kernel_and_also_when_that_has_just_left) {
  for (const std::uint32_t rows : {512u, 5000u}) {
    const std::size_t bytes = std::size_t{rows} * 8;
    const GpuMemory source(BufferKind::device, rows * 64);
    const GpuMemory target(BufferKind::device, rows * 24);
    const Layout from = Layout::contiguous(8).repeated(rows, 64);
    const Layout to = Layout::contiguous(8).repeated(rows, 24);
    CopySource columns{source.data(), bytes};
    columns.loops = *from.loops();
    const BufferView place{inspect(target.data()), to};
    EXPECT_EQ(suits_sharing(columns, place), rows == 5000);
    set_linger(2'000'000);
    for (int round = 0; round < 50; ++round) {
      fill(source, from, bytes, 3);
      fill(target, {}, 0, 0);
      follow_each_other(20, suits_sharing(columns, place));
      std::unique_ptr<Pull> pull;
      ASSERT_TRUE(start_copy(columns, place, context_, pull).ok());
      bool finished = false;
      ASSERT_TRUE(comes_true([&] { return !pull->advance(finished).ok() || finished; }));
      ASSERT_TRUE(finished);
      pull.reset();
      EXPECT_EQ(first_difference(target, to, bytes, 3), -1);
    }
  }
}

TEST_F(StandingBy, a_larger_pull_arrives_by_several_blocks_and_also_when_they_have_just_left) {
  const GpuMemory source(BufferKind::device, 200'000);
  const GpuMemory target(BufferKind::device, 200'000);
  const Bytes content = payload(source.bytes(), 9);
  source.write(content);
  set_linger(2'000'000);
  for (int by_kernel = 0; by_kernel < 20; ++by_kernel) {
    std::unique_ptr<Pull> pull;
    ASSERT_TRUE(comes_true([&] {
      follow_each_other(20, suits_sharing(CopySource{source.data(), source.bytes()}, place(target)));
      pull = start_on_resident_kernel(CopySource{source.data(), source.bytes()}, place(target), context_);
      return pull != nullptr;
    }));
    bool finished = false;
    ASSERT_TRUE(comes_true([&] { return !pull->advance(finished).ok() || finished; }));
    ASSERT_TRUE(finished);
    pull.reset();
    EXPECT_TRUE(target.read() == content);
    target.write(Bytes(target.bytes(), guard_byte));
  }
}

TEST_F(StandingBy, only_aligned_copies_between_devices_are_shared) {
  const GpuMemory large(BufferKind::device, 100'016);
  Bytes host(100'000);
  const auto part_of_large = [&](std::size_t offset) {
    return BufferView{inspect(at(large, offset)), Layout::contiguous(100'000)};
  };
  EXPECT_TRUE(suits_sharing(CopySource{large.data(), 100'000}, part_of_large(16)));
  EXPECT_FALSE(suits_sharing(CopySource{large.data(), 100'000}, part_of_large(8)));
  EXPECT_FALSE(suits_sharing(CopySource{large.data(), kernels::least_shared_order - 1}, part_of_large(0)));
  EXPECT_FALSE(suits_sharing(CopySource{large.data(), 100'000},
                             {inspect(host.data()), Layout::contiguous(host.size())}));
}

TEST_F(StandingBy, small_copies_alone_bring_a_kernel_of_one_block) {
  const GpuMemory large(BufferKind::device, 200'000);
  follow_each_other(20);
  ASSERT_TRUE(kernel_comes());
  EXPECT_EQ(start_on_resident_kernel(CopySource{large.data(), large.bytes()}, place(large), context_),
            nullptr);
  let_kernel_leave();
}

TEST_F(StandingBy, a_pull_into_host_memory_arrives_by_the_kernel) {
  const Bytes content = payload(source_.bytes(), 4);
  source_.write(content);
  Bytes arrived(source_.bytes() + 1, guard_byte);
  follow_each_other(20);
  const BufferView host{inspect(arrived.data()), Layout::contiguous(source_.bytes())};
  const CopySource source{source_.data(), source_.bytes()};
  ASSERT_TRUE(suits_resident_kernel(source, host));
  std::unique_ptr<Pull> pull;
  ASSERT_TRUE(
      comes_true([&] { return (pull = start_on_resident_kernel(source, host, context_)) != nullptr; }));
  bool finished = false;
  ASSERT_TRUE(comes_true([&] { return !pull->advance(finished).ok() || finished; }));
  EXPECT_TRUE(finished);
  Bytes wanted = content;
  wanted.push_back(guard_byte);
  EXPECT_EQ(arrived, wanted);
}

TEST_F(StandingBy, downloads_and_uploads_go_by_the_kernel_once_it_is_there) {
  const Bytes content = payload(100, 6);
  Bytes arrived(100);
  const BufferView device{inspect(source_.data()), Layout::contiguous(100)};
  EXPECT_FALSE(upload_by_resident_kernel(device, content.data(), context_));
  follow_each_other(20);
  ASSERT_TRUE(comes_true([&] { return upload_by_resident_kernel(device, content.data(), context_); }));
  EXPECT_TRUE(download_by_resident_kernel(arrived.data(), device, context_));
  EXPECT_EQ(arrived, content);
  const BufferView large{inspect(source_.data()), Layout::contiguous(kernels::bounce_bytes + 1)};
  EXPECT_FALSE(download_by_resident_kernel(arrived.data(), large, context_));
}

TEST_F(StandingBy, a_download_waits_for_what_the_application_has_queued) {
  const BufferView device{inspect(source_.data()), Layout::contiguous(8)};
  Bytes arrived(8);
  follow_each_other(20);
  ASSERT_TRUE(comes_true([&] { return download_by_resident_kernel(arrived.data(), device, context_); }));
  call_.reset();
  std::this_thread::sleep_for(1ms);
  BusyStream busy(CU_STREAM_LEGACY);
  call_.emplace();
  follow_each_other(20);
  EXPECT_FALSE(download_by_resident_kernel(arrived.data(), device, context_));
}

TEST_F(StandingBy, a_copy_into_a_device_waits_for_what_the_application_has_queued) {
  constexpr std::size_t most = 5u << 20;
  const GpuMemory source(BufferKind::device, most);
  const GpuMemory target(BufferKind::device, most);
  std::unique_ptr<Pull> pull;
  const auto advance_for = [&](std::chrono::milliseconds time) {
    bool finished = false;
    const auto deadline = std::chrono::steady_clock::now() + time;
    while (!finished && std::chrono::steady_clock::now() < deadline)
      EXPECT_TRUE(pull->advance(finished).ok());
    return finished;
  };
  for (int round = 0; round < 20; ++round) {
    const std::size_t bytes = round % 2 == 0 ? 100'000 : most;
    const CopySource from{source.data(), bytes};
    const auto to = [&] {
      return BufferView{inspect(target.data()), Layout::contiguous(bytes), steady_now_ns()};
    };
    ASSERT_TRUE(comes_true([&] {
      follow_each_other(20, true);
      return (pull = start_on_resident_kernel(from, to(), context_)) != nullptr;
    }));
    ASSERT_TRUE(advance_for(30s));
    pull.reset();
    BusyStream busy(CU_STREAM_LEGACY);
    // in the next call, which comes too soon for the kernel to leave
    call_.reset();
    call_.emplace();
    ASSERT_TRUE(start_copy(from, to(), context_, pull).ok());
    EXPECT_FALSE(advance_for(10ms)) << bytes << " bytes";
    busy.release();
    EXPECT_TRUE(advance_for(30s)) << bytes << " bytes";
    pull.reset();
  }
  let_kernel_leave();
}

TEST_F(StandingBy, one_pull_at_a_time_and_none_that_is_too_large) {
  follow_each_other(20);
  std::unique_ptr<Pull> first;
  ASSERT_TRUE(comes_true([&] { return (first = start()) != nullptr; }));
  EXPECT_EQ(start(), nullptr);
  const GpuMemory large(BufferKind::device, kernels::largest_shared_order + 1);
  first.reset();
  EXPECT_FALSE(suits_resident_kernel(CopySource{large.data(), large.bytes()}, place(large)));
  let_kernel_leave();
}

TEST_F(StandingBy, managed_memory_is_left_to_the_copy_engine_and_brings_no_kernel) {
  const GpuMemory managed(BufferKind::managed, 64);
  const BufferView place_of_managed{inspect(managed.data()), Layout::contiguous(64)};
  CopySource source{managed.data(), 64};
  source.is_managed = true;
  EXPECT_FALSE(suits_resident_kernel(source, place(target_)));
  EXPECT_FALSE(suits_resident_kernel(CopySource{source_.data(), 64}, place_of_managed));
  Bytes bytes(64);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(download(bytes.data(), place_of_managed).ok());
  EXPECT_FALSE(kernel_comes());
}

TEST_F(StandingBy, a_kernel_that_stood_by_in_vain_makes_the_next_one_less_likely) {
  set_linger(20'000'000);
  // Nine copies, eight of which follow another, bring a kernel once. It leaves without an order, and then
  // eight in a row are not enough any more.
  follow_each_other(9);
  std::this_thread::sleep_for(500ms);
  set_linger(60 * second_ns);
  follow_each_other(8);
  EXPECT_FALSE(kernel_comes());
  follow_each_other(40);
  EXPECT_TRUE(comes_true([&] { return kernel_comes(); }));
}

}  // namespace
}  // namespace penstock::transports::test
