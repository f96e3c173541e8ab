// Payloads between two real processes, by every transport, for every kind of memory.
#include <gtest/gtest.h>

#include <cstring>
#include <ostream>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"

namespace penstock::transports {

std::ostream& operator<<(std::ostream& out, TransportKind transport) {
  return out << name_of(transport);
}
std::ostream& operator<<(std::ostream& out, BufferKind kind) {
  return out << name_of(kind);
}

namespace test {
namespace {

constexpr unsigned slot = 0;

/// Sends the payload of `from` to `to` as the interposer would: an offer, then pushing, relaying or staging
/// if the receiver asks for it, and staging where relaying cannot begin.
Answer transfer(Partner& from, const Shape& from_shape, Partner& to, const Shape& to_shape,
                Staging in_host_memory = Staging::host_ring) {
  const Answer offered = from.describe(slot, from_shape);
  const Answer direct = to.receive(slot, to_shape, offered.offer);
  if (direct.code != Code::declined) return direct;
  if (direct.transport == TransportKind::pushed) {
    Answer pushed = from.push(slot, from_shape, to.describe(slot, {from_shape.bytes}).offer);
    pushed.transport = direct.transport;
    std::memcpy(pushed.reason, direct.reason, sizeof(pushed.reason));
    return pushed;
  }
  bool relay = direct.transport == TransportKind::relayed;
  Answer staged = from.stage(slot, from_shape, relay ? Staging::device_ring : in_host_memory);
  Answer begun = staged.ok() ? to.begin(slot, to_shape, staged.offer) : staged;
  if (relay && !begun.ok()) {
    if (staged.ok()) from.drop_send(true);
    staged = from.stage(slot, from_shape, in_host_memory);
    begun = staged.ok() ? to.begin(slot, to_shape, staged.offer) : staged;
  }
  if (!begun.ok()) return begun;
  from.serve();
  Answer received = to.finish();
  const Answer served = from.served();
  received.transport = begun.transport;
  std::memcpy(received.reason, begun.reason, sizeof(received.reason));
  return received.ok() && !served.ok() ? served : received;
}

struct Sides {
  BufferKind from;
  BufferKind to;
  TransportKind forced;
  friend void PrintTo(const Sides& sides, std::ostream* out) {
    *out << sides.from << " to " << sides.to << ", transport " << sides.forced;
  }
};

/// What the chooser should come to; the source lies on device 0.
TransportKind transport_of(const Sides& sides, const Shape& from_shape, const Shape& to_shape,
                           int to_device) {
  const std::size_t bytes = from_shape.bytes;
  const bool contiguous = from_shape.layout().is_contiguous();
  const bool lands_contiguous = to_shape.layout().is_contiguous();
  // a kernel reads layouts that it can reckon with, and no managed memory
  const bool kernel_reads = from_shape.layout().loops() && (lands_contiguous || to_shape.layout().loops()) &&
                            lives_on_device(sides.to) && sides.to != BufferKind::managed;
  // without a CUDA context nothing can be mapped; pinned memory brings one
  const bool maps = sides.to != BufferKind::pageable;
  const bool can_push = sides.from == BufferKind::pinned && sides.to == BufferKind::device;
  if (can_push && sides.forced == TransportKind::none && contiguous && lands_contiguous && bytes >= 64 << 10)
    return TransportKind::pushed;
  if (!maps || !lives_on_device(sides.from) || sides.forced == TransportKind::staged)
    return TransportKind::staged;
  if (sides.forced == TransportKind::relayed) return TransportKind::relayed;
  if (sides.from == BufferKind::device && (contiguous || kernel_reads)) return TransportKind::peer;
  const Tuning& figures = shipped_tuning();
  const std::uint64_t relayed_from = lives_on_device(sides.to)
                                         ? figures.of(cuda::link_between(0, to_device)).relayed_from
                                         : figures.pushed_from;
  return bytes >= relayed_from ? TransportKind::relayed : TransportKind::staged;
}

class EveryKind : public testing::TestWithParam<Sides> {};

TEST_P(EveryKind, of_memory_at_both_ends_delivers_the_payload_and_nothing_else) {
  const Sides& sides = GetParam();
  Partner from;
  Partner to;
  to.force_transport(sides.forced);
  std::uint64_t seed = 0;
  for (const int to_device : {0, 1}) {
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{4093}, std::size_t{300'001}, std::size_t{1'300'000}}) {
      const Shape contiguous{bytes};
      const Shape strided{bytes, 1000, 1536};
      for (const Shape& from_shape : {contiguous, strided}) {
        for (const Shape& to_shape : {contiguous, strided}) {
          SCOPED_TRACE(testing::Message() << bytes << " bytes to device " << to_device << ", rows of "
                                          << from_shape.row_bytes << " to rows of " << to_shape.row_bytes);
          ++seed;
          from.allocate(slot, sides.from, from_shape.extent());
          to.allocate(slot, sides.to, to_shape.extent(), to_device % device_count_of_machine());
          from.fill(slot, from_shape, seed);
          to.fill(slot, {}, 0);
          const Answer received = transfer(from, from_shape, to, to_shape);
          ASSERT_TRUE(received.ok()) << received.where << ' ' << received.detail;
          EXPECT_EQ(to.check(slot, to_shape, bytes, seed), -1);
          EXPECT_EQ(received.transport, transport_of(sides, from_shape, to_shape, to_device))
              << received.reason;
        }
      }
    }
  }
}

std::vector<Sides> all_sides() {
  std::vector<Sides> all;
  for (const BufferKind from : buffer_kinds) {
    for (const BufferKind to : buffer_kinds) {
      for (const TransportKind forced : {TransportKind::none, TransportKind::relayed, TransportKind::staged})
        all.push_back({from, to, forced});
    }
  }
  return all;
}

std::string name_of_sides(const testing::TestParamInfo<Sides>& info) {
  std::string name = std::string(name_of(info.param.from)) + "_to_" + name_of(info.param.to);
  if (info.param.forced != TransportKind::none) name += std::string("_") + name_of(info.param.forced);
  for (char& letter : name) letter = letter == ' ' ? '_' : letter;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Transports, EveryKind, testing::ValuesIn(all_sides()), name_of_sides);

/// Two processes, device memory at both ends.
class DeviceToDevice : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 100'000;
  static constexpr Shape shape{bytes};

  void allocate(Partner& partner, int device = 0, std::size_t payload_bytes = bytes) {
    partner.allocate(slot, BufferKind::device, Shape{payload_bytes}.extent(),
                     device % device_count_of_machine());
    partner.fill(slot, {}, 0);
  }
  Answer offer(Partner& from, std::uint64_t seed) {
    from.fill(slot, shape, seed);
    return from.describe(slot, shape);
  }
};

TEST_F(DeviceToDevice, takes_the_peer_transport_and_says_why) {
  Partner from;
  Partner to;
  allocate(from, 0);
  allocate(to, 1);
  const Answer received = to.receive(slot, shape, offer(from, 1).offer);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::peer);
  EXPECT_STREQ(received.reason, device_count_of_machine() > 1 ? "CUDA IPC between devices with peer access"
                                                              : "CUDA IPC on one device");
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

TEST_F(DeviceToDevice, of_zero_bytes_finishes) {
  Partner from;
  Partner to;
  allocate(from);
  allocate(to);
  const Answer by_peer = to.receive(slot, {}, from.describe(slot, {}).offer);
  EXPECT_TRUE(by_peer.ok()) << by_peer.where;
  to.force_transport(TransportKind::staged);
  const Answer staged = from.stage(slot, {}, Staging::host_whole);
  from.serve();
  EXPECT_TRUE(from.served().ok());
  const Answer by_staging = to.receive(slot, {}, staged.offer);
  EXPECT_TRUE(by_staging.ok()) << by_staging.where;
  to.force_transport(TransportKind::relayed);
  EXPECT_EQ(to.begin(slot, {}, from.describe(slot, {}).offer).transport, TransportKind::staged);
  EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
}

TEST_F(DeviceToDevice, of_a_message_shorter_than_its_receive_leaves_the_rest_alone) {
  Partner from;
  Partner to;
  allocate(from);
  allocate(to);
  from.fill(slot, {1000}, 5);
  ASSERT_TRUE(to.receive(slot, shape, from.describe(slot, {1000}).offer).ok());
  EXPECT_EQ(to.check(slot, shape, 1000, 5), -1);
}

TEST_F(DeviceToDevice, of_a_message_longer_than_its_receive_is_refused_on_each_transport) {
  Partner from;
  Partner to;
  allocate(from);
  allocate(to);
  EXPECT_EQ(to.receive(slot, {1000}, from.describe(slot, shape).offer).code, Code::bad_argument);
  const Answer staged = from.stage(slot, shape, Staging::host_whole);
  to.force_transport(TransportKind::staged);
  EXPECT_EQ(to.receive(slot, {1000}, staged.offer).code, Code::bad_argument);
  from.drop_send(true);
  const Answer relayed = from.stage(slot, shape, Staging::device_ring);
  to.force_transport(TransportKind::relayed);
  EXPECT_EQ(to.receive(slot, {1000}, relayed.offer).code, Code::bad_argument);
  from.drop_send(true);
  EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
}

TEST_F(DeviceToDevice, goes_by_the_transport_that_is_forced) {
  Partner from;
  Partner to;
  allocate(from);
  allocate(to);
  to.force_transport(TransportKind::peer);
  const Answer by_peer = to.receive(slot, shape, offer(from, 1).offer);
  EXPECT_EQ(by_peer.transport, TransportKind::peer);
  EXPECT_STREQ(by_peer.reason, "forced by PENSTOCK_TRANSPORT");
  to.force_transport(TransportKind::staged);
  const Answer by_staging = transfer(from, shape, to, shape);
  EXPECT_EQ(by_staging.transport, TransportKind::staged);
  EXPECT_STREQ(by_staging.reason, "forced by PENSTOCK_TRANSPORT");
  to.force_transport(TransportKind::relayed);
  const Answer relayed = transfer(from, shape, to, shape);
  EXPECT_EQ(relayed.transport, TransportKind::relayed);
  EXPECT_STREQ(relayed.reason, "forced by PENSTOCK_TRANSPORT");
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
  to.force_transport(TransportKind::local);
  const Answer refused = to.begin(slot, shape, offer(from, 2).offer);
  EXPECT_EQ(refused.code, Code::declined);
  EXPECT_STREQ(refused.reason, "sender is another process");
}

TEST_F(DeviceToDevice, carries_more_than_the_ring_holds) {
  constexpr Shape large{(77u << 20) + 5};
  Partner from;
  Partner to;
  allocate(from, 0, large.bytes);
  allocate(to, 1, large.bytes);
  std::uint64_t seed = 2;
  for (const Staging staging : {Staging::host_ring, Staging::host_whole, Staging::device_ring}) {
    to.force_transport(staging == Staging::device_ring ? TransportKind::relayed : TransportKind::staged);
    from.fill(slot, large, ++seed);
    ASSERT_TRUE(transfer(from, large, to, large, staging).ok());
    EXPECT_EQ(to.check(slot, large, large.bytes, seed), -1);
  }
}

TEST_F(DeviceToDevice, staged_whole_frees_the_sender_before_the_receiver_comes) {
  Partner from;
  Partner to;
  allocate(from, 0);
  allocate(to, 1);
  from.fill(slot, shape, 9);
  const Answer staged = from.stage(slot, shape, Staging::host_whole);
  ASSERT_TRUE(staged.ok()) << staged.where;
  const Answer produced = from.produce();
  EXPECT_TRUE(produced.ok());
  EXPECT_EQ(produced.value, 0) << "drained before anybody came";
  from.fill(slot, shape, 10);  // the sender goes on with its buffer
  from.drop_send();
  to.force_transport(TransportKind::staged);
  ASSERT_TRUE(to.receive(slot, shape, staged.offer).ok());
  EXPECT_EQ(to.check(slot, shape, bytes, 9), -1);
}

TEST_F(DeviceToDevice, is_staged_where_peer_access_is_off) {
  if (!machine_is_simulated()) GTEST_SKIP() << "peer access of real devices cannot be switched off";
  Partner from({"SIMULATED_GPU_PEER=0"});
  Partner to({"SIMULATED_GPU_PEER=0"});
  allocate(from, 0);
  allocate(to, 1);
  from.fill(slot, shape, 1);
  const Answer received = transfer(from, shape, to, shape);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::staged);
  EXPECT_STREQ(received.reason, "peer access is off");
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

/// A payload from memory that cannot be exported.
class FromAPool : public testing::Test {
 protected:
  static constexpr std::size_t bytes = 300'000;
  static constexpr Shape shape{bytes};

  Answer send(Partner& from, Partner& to) {
    from.allocate(slot, BufferKind::async_pool, shape.extent());
    to.allocate(slot, BufferKind::async_pool, shape.extent());
    from.fill(slot, shape, 7);
    to.fill(slot, {}, 0);
    const Answer received = transfer(from, shape, to, shape);
    EXPECT_EQ(to.check(slot, shape, bytes, 7), -1);
    return received;
  }
};

TEST_F(FromAPool, is_relayed_and_says_why) {
  Partner from;
  Partner to;
  const Answer received = send(from, to);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::relayed);
  EXPECT_STREQ(received.reason, "sender's memory is from an async pool and cannot be exported");
}

TEST_F(FromAPool, maps_the_ring_once) {
  Partner from;
  Partner to;
  for (int message = 0; message < 10; ++message) ASSERT_EQ(send(from, to).transport, TransportKind::relayed);
  EXPECT_EQ(to.cached_ranges(), 1);
}

TEST_F(FromAPool, is_relayed_from_and_to_a_device_that_the_other_does_not_see) {
  Partner from({"CUDA_VISIBLE_DEVICES=0"});
  Partner to({"CUDA_VISIBLE_DEVICES=" + std::to_string(device_count_of_machine() - 1)});
  const Answer received = send(from, to);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::relayed);
}

TEST_F(FromAPool, is_staged_where_the_device_has_no_memory_for_the_ring) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from({"SIMULATED_GPU_FAULTS=cuMemAlloc_v2:2"});
  Partner to;
  from.allocate(slot, BufferKind::async_pool, shape.extent());
  EXPECT_EQ(from.stage(slot, shape, Staging::device_ring).code, Code::out_of_memory);
  const Answer received = send(from, to);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::staged);
}

TEST_F(FromAPool, is_staged_where_the_ring_cannot_be_exported) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from({"SIMULATED_GPU_FAULTS=cuIpcGetMemHandle:801"});
  Partner to;
  const Answer received = send(from, to);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::staged);
}

TEST_F(FromAPool, is_staged_where_the_ring_cannot_be_mapped_and_at_once_from_then_on) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from;
  Partner to({"SIMULATED_GPU_FAULTS=cuIpcOpenMemHandle_v2:801x1"});
  const Answer first = send(from, to);
  ASSERT_TRUE(first.ok()) << first.where;
  EXPECT_EQ(first.transport, TransportKind::staged);
  const Answer second = to.begin(slot, shape, from.describe(slot, shape).offer);
  EXPECT_EQ(second.transport, TransportKind::staged) << "asked for";
  EXPECT_STREQ(second.reason, "the driver refused to map the sender's memory");
}

TEST_F(DeviceToDevice, maps_a_device_that_is_hidden_from_the_receiver) {
  Partner from({"CUDA_VISIBLE_DEVICES=0"});
  Partner to({"CUDA_VISIBLE_DEVICES=" + std::to_string(device_count_of_machine() - 1)});
  from.allocate(slot, BufferKind::device, shape.extent());
  to.allocate(slot, BufferKind::device, shape.extent());
  to.fill(slot, {}, 0);
  from.fill(slot, shape, 1);
  const Answer received = transfer(from, shape, to, shape);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

TEST_F(DeviceToDevice, is_staged_once_the_driver_has_refused_to_map) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from;
  Partner to({"SIMULATED_GPU_FAULTS=cuIpcOpenMemHandle_v2:801"});
  allocate(from, 0);
  allocate(to, 1);
  from.fill(slot, shape, 1);
  const Answer first = transfer(from, shape, to, shape);
  ASSERT_TRUE(first.ok()) << first.where;
  EXPECT_EQ(first.transport, TransportKind::staged);
  EXPECT_STREQ(first.reason, "the driver refused to map the sender's memory");
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

TEST_F(DeviceToDevice, tries_to_map_again_after_a_passing_failure) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  for (const char* const error : {"2", "208"}) {  // out of memory, already mapped
    Partner from;
    Partner to({std::string("SIMULATED_GPU_FAULTS=cuIpcOpenMemHandle_v2:") + error + "x1"});
    allocate(from, 0);
    allocate(to, 1);
    const Answer offered = offer(from, 1);
    const Answer first = to.begin(slot, shape, offered.offer);
    EXPECT_EQ(first.code, Code::declined);
    EXPECT_STREQ(first.reason, "a better transport was tried, but could not carry it");
    EXPECT_EQ(to.receive(slot, shape, offered.offer).transport, TransportKind::peer) << error;
  }
}

TEST_F(DeviceToDevice, is_staged_where_the_driver_refuses_to_export) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from({"SIMULATED_GPU_FAULTS=cuIpcGetMemHandle:801"});
  Partner to;
  allocate(from, 0);
  allocate(to, 1);
  from.fill(slot, shape, 1);
  EXPECT_STREQ(from.describe(slot, shape).reason, "the driver refused to export the sender's memory");
  const Answer received = transfer(from, shape, to, shape);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_EQ(received.transport, TransportKind::staged);
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

TEST_F(DeviceToDevice, is_exported_after_all_where_the_driver_refused_only_for_a_moment) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from({"SIMULATED_GPU_FAULTS=cuIpcGetMemHandle:2x1"});
  allocate(from, 0);
  EXPECT_STREQ(from.describe(slot, shape).reason, "the driver refused to export the sender's memory");
  bool is_exported = false;
  for (int message = 0; message < 1000 && !is_exported; ++message)
    is_exported = from.describe(slot, shape).offer.ipc_exported != 0;
  EXPECT_TRUE(is_exported);
}

TEST_F(DeviceToDevice, is_staged_through_unpinned_memory_when_none_can_be_pinned) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from({"SIMULATED_GPU_FAULTS=cuMemHostRegister_v2:2"});
  Partner to({"SIMULATED_GPU_FAULTS=cuMemHostRegister_v2:2"});
  allocate(from, 0);
  allocate(to, 1);
  from.fill(slot, shape, 1);
  to.force_transport(TransportKind::staged);
  ASSERT_TRUE(transfer(from, shape, to, shape).ok());
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

TEST_F(DeviceToDevice, says_that_a_copy_could_not_be_queued) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from;
  Partner to({"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719"});
  allocate(from, 0);
  allocate(to, 1);
  const Answer by_peer = to.begin(slot, shape, offer(from, 1).offer);
  EXPECT_EQ(by_peer.code, Code::declined);
  const Answer staged = from.stage(slot, shape, Staging::host_whole);
  from.serve();
  const Answer received = to.receive(slot, shape, staged.offer);
  EXPECT_EQ(received.code, Code::cuda_failed);
  EXPECT_EQ(received.detail, 719);
  EXPECT_TRUE(from.served().ok()) << "the sender is free of a receiver that failed";
}

TEST_F(DeviceToDevice, says_that_a_copy_could_not_be_staged) {
  if (!machine_is_simulated()) GTEST_SKIP() << "faults are injected into the simulated driver";
  Partner from({"SIMULATED_GPU_FAULTS=cuMemcpyAsync:719"});
  allocate(from, 0);
  const Answer staged = from.stage(slot, shape, Staging::host_whole);
  EXPECT_EQ(staged.code, Code::cuda_failed);
  EXPECT_EQ(staged.detail, 719);
}

TEST_F(DeviceToDevice, receives_into_the_host_of_a_process_without_a_context_by_staging) {
  Partner from;
  Partner to;
  allocate(from, 0);
  to.allocate(slot, BufferKind::pageable, shape.extent());
  to.fill(slot, {}, 0);
  from.fill(slot, shape, 1);
  const Answer received = transfer(from, shape, to, shape);
  ASSERT_TRUE(received.ok()) << received.where;
  EXPECT_STREQ(received.reason, "this process has no CUDA context");
  EXPECT_EQ(to.check(slot, shape, bytes, 1), -1);
}

TEST_F(DeviceToDevice, survives_that_either_side_shuts_down) {
  Partner from;
  Partner to;
  allocate(from, 0);
  allocate(to, 1);
  const Answer offered = offer(from, 1);
  ASSERT_TRUE(to.receive(slot, shape, offered.offer).ok());
  ASSERT_TRUE(from.stage(slot, shape, Staging::host_whole).ok());
  ASSERT_TRUE(to.begin(slot, shape, offered.offer).ok());
  to.shut_down();
  to.drop_pull();  // was in flight when it happened
  EXPECT_EQ(to.begin(slot, shape, offered.offer).code, Code::declined);
  from.shut_down();
  from.drop_send();
}

}  // namespace
}  // namespace test
}  // namespace penstock::transports
