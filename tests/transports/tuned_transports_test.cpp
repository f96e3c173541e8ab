// The table of figures decides: which transport is taken, and how payloads are cut.
#include <gtest/gtest.h>

#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"

namespace penstock::transports::test {
namespace {

constexpr unsigned slot = 0;
constexpr Shape payload{300'000};

class TunedTransports : public testing::Test {
 protected:
  /// What the chooser comes to for a payload of that kind, on device 0, into memory of device `to_device`.
  [[nodiscard]] Answer choice(BufferKind from, int to_device, const Tuning& table) {
    from_.allocate(slot, from, payload.extent());
    to_.allocate(slot, BufferKind::device, payload.extent(), to_device % device_count_of_machine());
    to_.set_tuning(table);
    Answer chosen = to_.begin(slot, payload, from_.describe(slot, payload).offer);
    if (chosen.ok()) {
      EXPECT_TRUE(to_.finish().ok());
    }
    return chosen;
  }

  Partner from_;
  Partner to_;
};

Tuning with(std::uint64_t LinkTuning::*figure, std::uint64_t value) {
  Tuning table = tuning_alone_on_gpus();
  for (LinkTuning& link : table.links) link.*figure = value;
  return table;
}

TEST_F(TunedTransports, relay_from_the_size_that_the_table_says) {
  for (const int device : {0, 1}) {
    const auto transport = [&](std::uint64_t from) {
      return choice(BufferKind::async_pool, device, with(&LinkTuning::relayed_from, from)).transport;
    };
    EXPECT_EQ(transport(payload.bytes), TransportKind::relayed);
    EXPECT_EQ(transport(payload.bytes + 1), TransportKind::staged);
    EXPECT_EQ(transport(never), TransportKind::staged);
    EXPECT_EQ(transport(0), TransportKind::relayed);
  }
}

TEST_F(TunedTransports, leave_peer_access_where_the_table_says_that_host_memory_is_faster) {
  const Answer below = choice(BufferKind::device, 1, with(&LinkTuning::staged_from, payload.bytes + 1));
  if (below.transport != TransportKind::peer) GTEST_SKIP() << "no peer access";
  for (const BufferKind kind : {BufferKind::device, BufferKind::async_pool})
    EXPECT_EQ(choice(kind, 1, with(&LinkTuning::staged_from, payload.bytes)).transport,
              TransportKind::staged);
  EXPECT_STREQ(choice(BufferKind::device, 1, with(&LinkTuning::staged_from, 0)).reason,
               "this size is faster through host memory than by peer access here");
}

TEST_F(TunedTransports, keep_within_a_gpu_that_two_processes_share_only_what_is_worth_a_turn_there) {
  Tuning table = shipped_tuning();
  table.shared_gpu_from = payload.bytes + 1;
  for (const BufferKind kind : {BufferKind::device, BufferKind::async_pool}) {
    const Answer below = choice(kind, 0, table);
    EXPECT_EQ(below.transport, TransportKind::staged);
    if (kind == BufferKind::device) {
      EXPECT_STREQ(below.reason, "a copy within a GPU waits for the kernels of the other rank on it");
    }
  }
  if (device_count_of_machine() > 1) {
    EXPECT_NE(choice(BufferKind::device, 1, table).transport, TransportKind::staged);
  }
  table.shared_gpu_from = payload.bytes;
  EXPECT_EQ(choice(BufferKind::device, 0, table).transport, TransportKind::peer);
}

TEST_F(TunedTransports, go_by_the_figures_of_the_link_between_the_two_devices) {
  if (device_count_of_machine() < 2) GTEST_SKIP() << "one GPU";
  Tuning table = tuning_alone_on_gpus();
  table.links[static_cast<std::size_t>(cuda::Link::same_device)].relayed_from = never;
  EXPECT_EQ(choice(BufferKind::async_pool, 0, table).transport, TransportKind::staged);
  if (choice(BufferKind::device, 1, table).transport != TransportKind::peer) GTEST_SKIP() << "no peer access";
  EXPECT_EQ(choice(BufferKind::async_pool, 1, table).transport, TransportKind::relayed);
}

TEST_F(TunedTransports, push_from_the_size_that_the_table_says) {
  Tuning table = tuning_alone_on_gpus();
  table.pushed_from = payload.bytes;
  EXPECT_EQ(choice(BufferKind::pinned, 0, table).transport, TransportKind::pushed);
  table.pushed_from = payload.bytes + 1;
  EXPECT_EQ(choice(BufferKind::pinned, 0, table).transport, TransportKind::staged);
}

TEST_F(TunedTransports, that_are_forced_ignore_the_table) {
  to_.force_transport(TransportKind::relayed);
  EXPECT_EQ(choice(BufferKind::async_pool, 0, with(&LinkTuning::relayed_from, never)).transport,
            TransportKind::relayed);
}

TEST_F(TunedTransports, deliver_payloads_in_chunks_of_any_size_that_the_table_may_say) {
  constexpr Shape large{(9u << 20) + 5};
  std::uint64_t seed = 0;
  for (const TuningParameter& parameter : tuning_parameters()) {
    if (parameter.kind != TuningParameter::Kind::chunk) continue;
    const bool relays = parameter.of_link != nullptr;
    for (const std::uint64_t chunk : {parameter.least, parameter.most}) {
      Tuning table = tuning_alone_on_gpus();
      for (const cuda::Link link : {cuda::Link::nvlink, cuda::Link::pcie, cuda::Link::same_device})
        parameter.in(table, link) = chunk;
      from_.set_tuning(table);
      from_.allocate(slot, relays ? BufferKind::async_pool : BufferKind::device, large.extent());
      to_.allocate(slot, BufferKind::device, large.extent());
      from_.fill(slot, large, ++seed);
      to_.fill(slot, {}, 0);
      const Answer staged = from_.stage(slot, large, relays ? Staging::device_ring : Staging::host_ring);
      ASSERT_TRUE(staged.ok()) << staged.where;
      to_.force_transport(relays ? TransportKind::relayed : TransportKind::staged);
      ASSERT_TRUE(to_.begin(slot, large, staged.offer).ok());
      from_.serve();
      EXPECT_TRUE(to_.finish().ok());
      EXPECT_TRUE(from_.served().ok());
      EXPECT_EQ(to_.check(slot, large, large.bytes, seed), -1) << parameter.name << ' ' << chunk;
    }
  }
}

}  // namespace
}  // namespace penstock::transports::test
