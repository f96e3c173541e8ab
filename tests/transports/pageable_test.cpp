// Large payloads from another process's GPU into pageable host memory, pulled through pinned chunks.
#include <gtest/gtest.h>

#include <ostream>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"

namespace penstock::transports::test {
namespace {

constexpr unsigned slot = 0;
constexpr unsigned context_slot = 1;

/// A sender of device memory, and a receiver into pageable memory that has a context: without one it could
/// not map anything.
class IntoPageableMemory : public testing::Test {
 protected:
  explicit IntoPageableMemory(const std::vector<std::string>& environment = {}) : to(environment) {
    to.allocate(context_slot, BufferKind::device, 1, device_count_of_machine() - 1);
  }
  void allocate(const Shape& from_shape, const Shape& to_shape) {
    from.allocate(slot, BufferKind::device, from_shape.extent());
    to.allocate(slot, BufferKind::pageable, to_shape.extent());
    to.fill(slot, {}, 0);
  }
  Answer offer(const Shape& shape, std::uint64_t seed) {
    from.fill(slot, shape, seed);
    return from.describe(slot, shape);
  }

  Partner from;
  Partner to;
};

TEST_F(IntoPageableMemory, the_payload_arrives_whatever_its_size_and_layout) {
  std::uint64_t seed = 0;
  constexpr std::size_t kib = 1024;
  // around the size from which chunks are used, a chunk, the ring
  for (const std::size_t bytes : {256 * kib - 1, 256 * kib, 1024 * kib - 1, 2048 * kib + 1, 8192 * kib,
                                  16384 * kib + 1, 36'000 * kib + 3}) {
    for (const Shape& shape : {Shape{bytes}, Shape{bytes, 1000, 1536}, Shape{bytes, 700'001, 700'100}}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes into rows of " << shape.row_bytes);
      allocate({bytes}, shape);
      const Answer received = to.receive(slot, shape, offer({bytes}, ++seed).offer);
      ASSERT_TRUE(received.ok()) << received.where << ' ' << received.detail;
      EXPECT_EQ(received.transport, TransportKind::peer) << received.reason;
      EXPECT_EQ(to.check(slot, shape, bytes, seed), -1);
    }
  }
}

TEST_F(IntoPageableMemory, a_shorter_message_leaves_the_rest_alone) {
  constexpr Shape room{3'000'000};
  constexpr Shape message{2'500'001};
  allocate(room, room);
  ASSERT_TRUE(to.receive(slot, room, offer(message, 3).offer).ok());
  EXPECT_EQ(to.check(slot, room, message.bytes, 3), -1);
}

TEST_F(IntoPageableMemory, a_longer_message_is_refused) {
  constexpr Shape message{3'000'000};
  allocate(message, message);
  EXPECT_EQ(to.receive(slot, {2'999'999}, offer(message, 3).offer).code, Code::bad_argument);
  EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
}

TEST_F(IntoPageableMemory, a_pull_can_be_dropped_in_the_middle) {
  constexpr Shape shape{20'000'000};
  allocate(shape, shape);
  const Answer offered = offer(shape, 1);
  for (int round = 0; round < 10; ++round) {
    ASSERT_TRUE(to.begin(slot, shape, offered.offer).ok());
    to.drop_pull();
  }
  to.fill(slot, {}, 0);
  ASSERT_TRUE(to.receive(slot, shape, offered.offer).ok());
  EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
}

TEST_F(IntoPageableMemory, a_sender_that_dies_in_the_middle_does_no_harm) {
  constexpr Shape shape{20'000'000};
  allocate(shape, shape);
  ASSERT_TRUE(to.begin(slot, shape, offer(shape, 1).offer).ok());
  from.kill();
  const Answer finished = to.finish();
  if (finished.ok()) {
    EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
  }
}

TEST_F(IntoPageableMemory, many_pulls_leave_no_memory_behind) {
  constexpr Shape shape{5'000'000};
  allocate(shape, shape);
  const Answer offered = offer(shape, 1);
  ASSERT_TRUE(to.receive(slot, shape, offered.offer).ok());
  const std::int64_t before = to.resident_bytes();
  for (int round = 0; round < 30; ++round) ASSERT_TRUE(to.receive(slot, shape, offered.offer).ok());
  EXPECT_LT(to.resident_bytes() - before, 16 << 20);
}

class WithoutPinnedMemory : public IntoPageableMemory {
 protected:
  WithoutPinnedMemory() : IntoPageableMemory({"SIMULATED_GPU_FAULTS=cuMemHostRegister_v2:2"}) {}
};

TEST_F(WithoutPinnedMemory, the_driver_copies) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  for (const Shape& shape : {Shape{9'000'001}, Shape{9'000'001, 1000, 1536}}) {
    allocate({shape.bytes}, shape);
    const Answer received = to.receive(slot, shape, offer({shape.bytes}, 1).offer);
    ASSERT_TRUE(received.ok()) << received.where;
    EXPECT_EQ(received.transport, TransportKind::peer);
    EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
  }
}

class WithFailingCopies : public IntoPageableMemory {
 protected:
  WithFailingCopies() : IntoPageableMemory({"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719@3"}) {}
};

TEST_F(WithFailingCopies, the_failure_is_told) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  constexpr Shape shape{20'000'000};
  allocate(shape, shape);
  EXPECT_EQ(to.receive(slot, shape, offer(shape, 1).offer).code, Code::declined) << "none has left the ring";
}

class WithCopiesFailingLate : public IntoPageableMemory {
 protected:
  WithCopiesFailingLate() : IntoPageableMemory({"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719@6"}) {}
};

TEST_F(WithCopiesFailingLate, the_failure_is_final) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  constexpr Shape shape{20'000'000};
  allocate(shape, shape);
  const Answer received = to.receive(slot, shape, offer(shape, 1).offer);
  EXPECT_EQ(received.code, Code::cuda_failed);
  EXPECT_EQ(received.detail, 719);
}

}  // namespace
}  // namespace penstock::transports::test
