// Payloads that their sender pushes from pinned memory into the receiver's buffer: which, where they land,
// and what becomes of them where the driver refuses, the memory goes, a process dies or lies.
#include <gtest/gtest.h>

#include <functional>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"

namespace penstock::transports::test {
namespace {

constexpr unsigned slot = 0;
constexpr std::size_t bytes = 1'000'003;
constexpr Shape shape{bytes};

class Pushed : public testing::Test {
 protected:
  explicit Pushed(const std::vector<std::string>& from_environment = {},
                  const std::vector<std::string>& to_environment = {})
      : from(from_environment), to(to_environment) {}
  void SetUp() override {
    from.allocate(slot, BufferKind::pinned, shape.extent());
    allocate_target();
  }
  void allocate_target() {
    to.allocate(slot, BufferKind::device, shape.extent(), 1 % device_count_of_machine());
    to.fill(slot, {}, 0);
  }
  [[nodiscard]] Answer target() { return to.describe(slot, shape); }
  void push(std::uint64_t seed) {
    from.fill(slot, shape, seed);
    const Answer pushed = from.push(slot, shape, target().offer);
    ASSERT_TRUE(pushed.ok()) << pushed.where << ' ' << pushed.detail;
    ASSERT_EQ(to.check(slot, shape, bytes, seed), -1) << "seed " << seed;
  }

  Partner from;
  Partner to;
};

TEST_F(Pushed, is_what_the_receiver_asks_for_and_says_why) {
  const Answer asked = to.begin(slot, shape, from.describe(slot, shape).offer);
  EXPECT_EQ(asked.code, Code::declined);
  EXPECT_EQ(asked.transport, TransportKind::pushed);
  EXPECT_STREQ(asked.reason, "by the sender's GPU from its pinned memory");
  push(1);
}

TEST_F(Pushed, is_not_asked_for_where_the_receivers_memory_cannot_be_exported) {
  to.allocate(slot, BufferKind::async_pool, shape.extent());
  const Answer asked = to.begin(slot, shape, from.describe(slot, shape).offer);
  EXPECT_EQ(asked.transport, TransportKind::staged);
  EXPECT_STREQ(asked.reason, "receiver's memory cannot be exported");
}

TEST_F(Pushed, is_not_asked_for_once_the_sender_has_copied_the_payload_aside) {
  from.fill(slot, shape, 3);
  const Answer staged = from.stage(slot, shape, Staging::host_whole);
  ASSERT_TRUE(from.produce().ok());
  from.fill(slot, shape, 4);  // the sender goes on with its buffer
  const Answer received = to.receive(slot, shape, staged.offer);
  EXPECT_EQ(received.transport, TransportKind::staged);
  EXPECT_EQ(to.check(slot, shape, bytes, 3), -1);
}

TEST_F(Pushed, one_mapping_serves_all_messages_into_an_allocation) {
  for (std::uint64_t seed = 1; seed < 5; ++seed) push(seed);
  EXPECT_EQ(from.cached_ranges(), 1);
}

TEST_F(Pushed, a_target_that_was_freed_and_allocated_again_is_mapped_anew) {
  push(1);
  const std::uint64_t first_address = target().offer.range_base;
  bool address_came_back = false;
  for (std::uint64_t seed = 2; seed < 12; ++seed) {
    to.release(slot);
    allocate_target();
    address_came_back = address_came_back || target().offer.range_base == first_address;
    push(seed);
  }
  EXPECT_TRUE(address_came_back) << "the case that this test is for did not happen";
}

TEST_F(Pushed, a_target_that_lies_is_not_written_to) {
  from.fill(slot, shape, 1);
  const std::vector<std::function<void(Offer&)>> lies = {
      [](Offer& offer) { offer.payload_bytes += 1; },
      [](Offer& offer) { offer.payload_bytes -= 1; },
      [](Offer& offer) { offer.ipc_exported = 0; },
      [](Offer& offer) { offer.address += offer.range_bytes; },
      [](Offer& offer) { offer.address = offer.range_base - 1; },
      [](Offer& offer) { offer.range_bytes = bytes - 1; },
  };
  for (std::size_t lie = 0; lie < lies.size(); ++lie) {
    Offer offer = target().offer;
    lies[lie](offer);
    EXPECT_EQ(from.push(slot, shape, offer).code, Code::peer_lost) << "lie " << lie;
  }
  EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
}

TEST_F(Pushed, a_receiver_that_has_died_is_lost) {
  const Offer offer = target().offer;
  to.kill();
  EXPECT_EQ(from.push(slot, shape, offer).code, Code::peer_lost);
}

TEST_F(Pushed, a_receiver_that_dies_in_the_middle_does_the_sender_no_harm) {
  push(1);
  ASSERT_TRUE(from.begin_push(slot, shape, target().offer).ok());
  to.kill();
  const Answer pushed = from.finish_push();
  EXPECT_TRUE(pushed.ok() || pushed.code == Code::cuda_failed) << pushed.where;
}

TEST_F(Pushed, a_push_that_is_dropped_has_left_both_sides_alone_when_it_is_gone) {
  from.fill(slot, shape, 1);
  ASSERT_TRUE(from.begin_push(slot, shape, target().offer).ok());
  from.drop_push();
  to.fill(slot, shape, 2);
  EXPECT_EQ(to.check(slot, shape, bytes, 2), -1);
}

class PushedInTheSimulation : public Pushed {
 protected:
  using Pushed::Pushed;
  void SetUp() override {
    if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
    Pushed::SetUp();
  }
};

class PushedWithoutMapping : public PushedInTheSimulation {
 protected:
  PushedWithoutMapping() : PushedInTheSimulation({"SIMULATED_GPU_FAULTS=cuIpcOpenMemHandle_v2:801"}) {}
};

TEST_F(PushedWithoutMapping, is_declined_with_the_drivers_error_and_without_one_from_then_on) {
  const Answer first = from.push(slot, shape, target().offer);
  EXPECT_EQ(first.code, Code::declined);
  EXPECT_EQ(first.detail, 801);
  const Answer second = from.push(slot, shape, target().offer);
  EXPECT_EQ(second.code, Code::declined);
  EXPECT_EQ(second.detail, 0);
  EXPECT_STREQ(second.where, "the driver refused to map the sender's memory");
}

class PushedWithoutPeerAccess : public PushedInTheSimulation {
 protected:
  PushedWithoutPeerAccess() : PushedInTheSimulation({"SIMULATED_GPU_PEER=0"}, {"SIMULATED_GPU_PEER=0"}) {}
};

TEST_F(PushedWithoutPeerAccess, is_declined) {
  from.allocate(1, BufferKind::device, 64, 0);  // so that its context is on the first GPU
  const Answer pushed = from.push(slot, shape, target().offer);
  EXPECT_EQ(pushed.code, Code::declined);
  EXPECT_STREQ(pushed.where, "peer access is off");
}

class PushedWithFailingCopy : public PushedInTheSimulation {
 protected:
  PushedWithFailingCopy() : PushedInTheSimulation({"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719"}) {}
};

TEST_F(PushedWithFailingCopy, is_declined_when_the_copy_does_not_begin) {
  const Answer pushed = from.push(slot, shape, target().offer);
  EXPECT_EQ(pushed.code, Code::declined);
  EXPECT_EQ(pushed.detail, 719);
  // out of use: the next mapping unmaps it, and is the only one then
  EXPECT_EQ(from.push(slot, shape, target().offer).code, Code::declined);
  EXPECT_EQ(from.cached_ranges(), 1);
}

}  // namespace
}  // namespace penstock::transports::test
