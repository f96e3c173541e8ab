// Payloads that go over NVLink and PCIe at once: sizes around the borders of chunks, senders that help soon,
// late or never, and those that die or lie meanwhile.
#include <gtest/gtest.h>

#include <random>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"
#include "transports/tail_send.hpp"

namespace penstock::transports::test {
namespace {

constexpr unsigned slot = 0;

class Striped : public testing::Test {
 protected:
  explicit Striped(const std::vector<std::string>& from_environment = {},
                   const std::vector<std::string>& to_environment = {})
      : from(from_environment), to(to_environment) {}
  void SetUp() override {
    if (device_count_of_machine() < 2) GTEST_SKIP() << "needs two GPUs";
  }
  void allocate(const Shape& shape) {
    from.allocate(slot, BufferKind::device, shape.extent(), 0);
    to.allocate(slot, BufferKind::device, shape.extent(), 1);
    to.fill(slot, {}, 0);
  }
  Answer offer(const Shape& shape, std::uint64_t seed) {
    from.fill(slot, shape, seed);
    Answer offered = from.offer_tail(slot, shape);
    EXPECT_EQ(offered.value, 1) << "no tail is offered; is there NVLink between the GPUs?";
    return offered;
  }

  Partner from;
  Partner to;
};

TEST_F(Striped, the_payload_arrives_whatever_its_size) {
  constexpr std::uint64_t least = TailPlan::share * TailPlan::least_chunk;
  std::vector<std::uint64_t> sizes = {least,      least + 1,      2 * least - 1,    32 * least - 1,
                                      32 * least, 32 * least + 1, 128 * least - 77, 48u << 20};
  std::mt19937_64 random(11);
  for (int more = 0; more < 25; ++more) sizes.push_back(least + random() % (20u << 20));
  std::uint64_t seed = 0;
  std::int64_t over_pcie = 0;
  for (const std::uint64_t bytes : sizes) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    const Shape shape{bytes};
    allocate(shape);
    const Answer offered = offer(shape, ++seed);
    from.serve_tail();
    const Answer received = to.receive(slot, shape, offered.offer);
    const Answer served = from.tail_served();
    ASSERT_TRUE(received.ok()) << received.where << ' ' << received.detail;
    EXPECT_EQ(received.transport, TransportKind::striped) << received.reason;
    EXPECT_STREQ(received.reason, "NVLink and PCIe together");
    EXPECT_TRUE(served.ok()) << served.where;
    EXPECT_EQ(to.check(slot, shape, bytes, seed), -1);
    over_pcie += served.value;
  }
  RecordProperty("over_pcie", std::to_string(over_pcie));
}

/// As jobs run: each rank sees one GPU. The driver tells neither side of the other's.
class StripedBetweenHiddenDevices : public Striped {
 protected:
  StripedBetweenHiddenDevices() : Striped({"CUDA_VISIBLE_DEVICES=0"}, {"CUDA_VISIBLE_DEVICES=1"}) {}
  void allocate_first(const Shape& shape) {
    from.allocate(slot, BufferKind::device, shape.extent(), 0);
    to.allocate(slot, BufferKind::device, shape.extent(), 0);
    to.fill(slot, {}, 0);
  }
};

TEST_F(StripedBetweenHiddenDevices, the_payload_goes_both_ways_as_well) {
  constexpr Shape shape{40'000'003};
  allocate_first(shape);
  const Answer offered = offer(shape, 1);
  from.serve_tail();
  const Answer received = to.receive(slot, shape, offered.offer);
  EXPECT_TRUE(from.tail_served().ok());
  ASSERT_TRUE(received.ok()) << received.where << ' ' << received.detail;
  EXPECT_EQ(received.transport, TransportKind::striped) << received.reason;
  EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
}

class WithoutNvlink : public Striped {
 protected:
  WithoutNvlink()
      : Striped({"CUDA_VISIBLE_DEVICES=0", "SIMULATED_GPU_NVLINK=0"},
                {"CUDA_VISIBLE_DEVICES=1", "SIMULATED_GPU_NVLINK=0"}) {}
};

TEST_F(WithoutNvlink, no_tail_is_offered_to_devices_that_are_hidden) {
  if (!machine_is_simulated()) GTEST_SKIP() << "the GPUs of this machine may have NVLink";
  constexpr Shape shape{40'000'003};
  from.allocate(slot, BufferKind::device, shape.extent(), 0);
  EXPECT_EQ(from.offer_tail(slot, shape).value, 0);
}

TEST_F(Striped, what_the_sender_has_brought_is_fetched_from_there) {
  constexpr Shape shape{40'000'003};
  allocate(shape);
  const Answer offered = offer(shape, 1);
  ASSERT_TRUE(to.begin(slot, shape, offered.offer).ok());
  const Answer brought = from.bring_tail();
  EXPECT_GT(brought.value, 0);
  EXPECT_EQ(static_cast<std::uint64_t>(brought.value) % TailPlan(shape.bytes).chunk, 0u);
  from.serve_tail();
  EXPECT_TRUE(to.finish().ok());
  EXPECT_GE(from.tail_served().value, brought.value);
  EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
}

TEST_F(Striped, a_sender_that_is_busy_elsewhere_is_not_waited_for) {
  constexpr Shape shape{40'000'003};
  allocate(shape);
  const Answer received = to.receive(slot, shape, offer(shape, 1).offer);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::striped);
  EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
  from.serve_tail();
  EXPECT_EQ(from.tail_served().value, 0);
}

TEST_F(Striped, a_sender_may_stop_to_help_at_any_time) {
  constexpr Shape shape{40'000'003};
  for (const bool dies : {false, true}) {
    allocate(shape);
    const Answer offered = offer(shape, 1);
    ASSERT_TRUE(to.begin(slot, shape, offered.offer).ok());
    ASSERT_GT(from.bring_tail().value, 0);
    ASSERT_TRUE(to.advance().ok());
    if (dies) {
      from.kill();
    } else {
      from.drop_tail();
    }
    EXPECT_TRUE(to.finish().ok());
    EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
  }
}

TEST_F(Striped, a_pull_may_be_dropped_in_the_middle) {
  constexpr Shape shape{40'000'003};
  allocate(shape);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const Answer offered = offer(shape, seed);
    from.serve_tail();
    ASSERT_TRUE(to.begin(slot, shape, offered.offer).ok());
    ASSERT_TRUE(to.advance().ok());
    to.drop_pull();
    EXPECT_TRUE(from.tail_served().ok()) << "the sender is free of a receiver that has gone";
  }
  const Answer offered = offer(shape, 9);
  from.serve_tail();
  EXPECT_TRUE(to.receive(slot, shape, offered.offer).ok());
  EXPECT_TRUE(from.tail_served().ok());
  EXPECT_EQ(to.check(slot, shape, shape.bytes, 9), -1);
}

TEST_F(Striped, many_payloads_use_one_region) {
  constexpr Shape shape{3'000'000};
  allocate(shape);
  std::int64_t descriptors_of_sender = 0;
  std::int64_t descriptors_of_receiver = 0;
  for (std::uint64_t seed = 1; seed < 60; ++seed) {
    const Answer offered = offer(shape, seed);
    if (seed % 3 == 0) {
      from.drop_tail();  // nobody came
      continue;
    }
    from.serve_tail();
    ASSERT_TRUE(to.receive(slot, shape, offered.offer).ok());
    ASSERT_TRUE(from.tail_served().ok());
    ASSERT_EQ(to.check(slot, shape, shape.bytes, seed), -1);
    if (seed == 2) {
      descriptors_of_sender = from.open_descriptors();
      descriptors_of_receiver = to.open_descriptors();
    }
  }
  EXPECT_EQ(from.open_descriptors(), descriptors_of_sender);
  EXPECT_EQ(to.open_descriptors(), descriptors_of_receiver);
}

TEST_F(Striped, a_payload_may_be_fetched_by_another_transport_all_the_same) {
  constexpr Shape shape{3'000'000};
  allocate(shape);
  to.force_transport(TransportKind::peer);
  const Answer received = to.receive(slot, shape, offer(shape, 1).offer);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::peer);
  EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
  from.drop_tail();
}

TEST_F(Striped, a_tail_that_does_not_exist_is_done_without) {
  constexpr Shape shape{3'000'000};
  allocate(shape);
  using Change = void (*)(Offer&);
  for (const Change change : {Change{[](Offer& offer) { offer.tail.descriptor = 9999; }},
                              Change{[](Offer& offer) { offer.tail.segment_bytes += 4096; }},
                              Change{[](Offer& offer) { offer.tail.id += 1; }},
                              Change{[](Offer& offer) { offer.tail.id += std::uint64_t{1} << 32; }}}) {
    Answer offered = offer(shape, 1);
    change(offered.offer);
    to.fill(slot, {}, 0);
    const Answer received = to.receive(slot, shape, offered.offer);
    ASSERT_TRUE(received.ok()) << received.where;
    EXPECT_EQ(to.check(slot, shape, shape.bytes, 1), -1);
    from.drop_tail();
  }
}

TEST_F(Striped, a_message_longer_than_its_receive_is_refused) {
  constexpr Shape shape{3'000'000};
  allocate(shape);
  EXPECT_EQ(to.receive(slot, {2'999'999}, offer(shape, 1).offer).code, Code::bad_argument);
  EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
  from.drop_tail();
}

TEST_F(Striped, a_message_shorter_than_its_receive_leaves_the_rest_alone) {
  constexpr Shape room{3'000'000};
  constexpr Shape message{2'000'001};
  allocate(room);
  const Answer offered = offer(message, 4);
  from.serve_tail();
  ASSERT_TRUE(to.receive(slot, room, offered.offer).ok());
  EXPECT_TRUE(from.tail_served().ok());
  EXPECT_EQ(to.check(slot, room, message.bytes, 4), -1);
}

TEST_F(Striped, other_destinations_and_small_payloads_take_other_transports) {
  constexpr Shape shape{3'000'000};
  constexpr Shape strided{3'000'000, 1000, 1536};
  allocate(strided);
  from.fill(slot, shape, 1);
  const Answer in_rows = to.receive(slot, strided, from.offer_tail(slot, shape).offer);
  EXPECT_EQ(in_rows.transport, TransportKind::peer) << in_rows.reason;
  from.drop_tail();
  to.allocate(slot, BufferKind::device, shape.extent(), 0);
  const Answer on_one_device = to.receive(slot, shape, from.offer_tail(slot, shape).offer);
  EXPECT_EQ(on_one_device.transport, TransportKind::peer) << on_one_device.reason;
  from.drop_tail();
  EXPECT_EQ(from.offer_tail(slot, {100'000}).value, 0);
}

class StripedUnderFaults : public testing::Test {
 protected:
  void SetUp() override {
    if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  }
  /// What becomes of a payload between partners with these environments.
  static Answer transfer(const std::vector<std::string>& from_environment,
                         const std::vector<std::string>& to_environment) {
    constexpr Shape shape{5'000'000};
    Partner from(from_environment);
    Partner to(to_environment);
    from.allocate(slot, BufferKind::device, shape.extent(), 0);
    to.allocate(slot, BufferKind::device, shape.extent(), 1);
    to.fill(slot, {}, 0);
    from.fill(slot, shape, 7);
    const Answer offered = from.offer_tail(slot, shape);
    if (offered.value == 0) return to.receive(slot, shape, offered.offer);
    Answer received = to.begin(slot, shape, offered.offer);
    if (received.ok()) {
      static_cast<void>(from.bring_tail());
      const TransportKind transport = received.transport;
      received = to.finish();
      received.transport = transport;
    }
    if (received.ok()) {
      EXPECT_EQ(to.check(slot, shape, shape.bytes, 7), -1);
    }
    from.drop_tail();
    return received;
  }
};

TEST_F(StripedUnderFaults, the_sender_cannot_pin_memory) {
  const Answer received = transfer({"SIMULATED_GPU_FAULTS=cuMemHostRegister_v2:2"}, {});
  EXPECT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::striped);
}

TEST_F(StripedUnderFaults, the_receiver_cannot_pin_memory) {
  const Answer received = transfer({}, {"SIMULATED_GPU_FAULTS=cuMemHostRegister_v2:2"});
  EXPECT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::striped);
}

TEST_F(StripedUnderFaults, the_sender_cannot_copy) {
  const Answer received = transfer({"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719"}, {});
  EXPECT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::striped);
}

TEST_F(StripedUnderFaults, the_receiver_cannot_copy_and_no_byte_has_moved) {
  const Answer received = transfer({}, {"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719"});
  EXPECT_EQ(received.code, Code::declined);
}

TEST_F(StripedUnderFaults, the_receiver_fails_in_the_middle) {
  const Answer received = transfer({}, {"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719@5"});
  EXPECT_EQ(received.code, Code::cuda_failed);
  EXPECT_EQ(received.detail, 719);
}

TEST_F(StripedUnderFaults, the_driver_refuses_to_map_the_payload) {
  const Answer received = transfer({}, {"SIMULATED_GPU_FAULTS=cuIpcOpenMemHandle_v2:801"});
  EXPECT_EQ(received.code, Code::declined) << "the sender is to stage";
}

TEST_F(StripedUnderFaults, there_is_no_nvlink) {
  const Answer received = transfer({"SIMULATED_GPU_NVLINK=0"}, {"SIMULATED_GPU_NVLINK=0"});
  EXPECT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::peer);
}

}  // namespace
}  // namespace penstock::transports::test
