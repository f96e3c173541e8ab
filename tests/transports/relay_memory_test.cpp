// The device memory that payloads are relayed through, in one process.
#include "transports/device_memory/relay_memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/transports/gpu_memory.hpp"

namespace penstock::transports::test {
namespace {

using cuda::RelaySlice;

class RelayMemory : public testing::Test {
 protected:
  RelayMemory() : anchor_(BufferKind::device, 1), context_(cuda::Context::of(inspect(anchor_.data()))) {}
  ~RelayMemory() override { RelaySlice::drop_all(); }

  [[nodiscard]] Status take(std::size_t bytes, RelaySlice& slice) const {
    const cuda::ContextScope scope(*context_);
    return RelaySlice::take(context_, bytes, slice);
  }
  /// Takes slices until it is refused.
  [[nodiscard]] std::vector<RelaySlice> take_all(std::size_t bytes) const {
    std::vector<RelaySlice> slices;
    for (;;) {
      RelaySlice slice;
      const Status taken = take(bytes, slice);
      if (!taken.ok()) {
        EXPECT_EQ(taken.code(), Code::declined) << taken.where();
        return slices;
      }
      slices.push_back(std::move(slice));
    }
  }

 private:
  GpuMemory anchor_;
  cuda::ContextRef context_;
};

TEST_F(RelayMemory, is_lent_in_slices_of_one_allocation_that_do_not_overlap) {
  for (const std::size_t bytes : {std::size_t{1}, RelaySlice::unit_bytes, 3 * RelaySlice::unit_bytes,
                                  16 * RelaySlice::unit_bytes, RelaySlice::arena_bytes}) {
    std::vector<RelaySlice> slices = take_all(bytes);
    const std::size_t units =
        bytes == 3 * RelaySlice::unit_bytes ? 4 : (bytes - 1) / RelaySlice::unit_bytes + 1;
    ASSERT_EQ(slices.size(), 64 / units) << bytes;
    std::sort(slices.begin(), slices.end(), [](const RelaySlice& one, const RelaySlice& other) {
      return one.buffer().pointer < other.buffer().pointer;
    });
    auto end = slices.front().buffer().range_base;
    for (const RelaySlice& slice : slices) {
      EXPECT_EQ(reinterpret_cast<CUdeviceptr>(slice.buffer().pointer), end);
      EXPECT_EQ(slice.buffer().buffer_id, slices.front().buffer().buffer_id);
      EXPECT_EQ(slice.bytes(), units * RelaySlice::unit_bytes);
      end += slice.bytes();
    }
  }
}

TEST_F(RelayMemory, that_was_given_back_is_lent_again) {
  std::vector<RelaySlice> slices = take_all(1);
  const void* const given_back = slices[10].buffer().pointer;
  slices.erase(slices.begin() + 10);
  RelaySlice again;
  EXPECT_EQ(take(2 * RelaySlice::unit_bytes, again).code(), Code::declined) << "no two units in a row";
  ASSERT_TRUE(take(1, again).ok());
  EXPECT_EQ(again.buffer().pointer, given_back);
}

TEST_F(RelayMemory, refuses_what_would_never_fit) {
  RelaySlice slice;
  EXPECT_EQ(take(RelaySlice::arena_bytes + 1, slice).code(), Code::bad_argument);
  EXPECT_FALSE(slice);
}

TEST_F(RelayMemory, on_loan_outlives_the_end_of_it_all) {
  RelaySlice slice;
  ASSERT_TRUE(take(1, slice).ok());
  RelaySlice::drop_all();
  RelaySlice other;
  ASSERT_TRUE(take(1, other).ok());
  EXPECT_NE(other.buffer().buffer_id, slice.buffer().buffer_id);
}

}  // namespace
}  // namespace penstock::transports::test
