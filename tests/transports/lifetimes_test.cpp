// Memory that is freed, processes that die and offers that lie.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "tests/support/sanitizers.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "tests/transports/partner.hpp"
#include "transports/regions/region_pool.hpp"
#include "transports/staged/staged_send.hpp"

namespace penstock::transports::test {
namespace {

constexpr unsigned slot = 0;
constexpr std::size_t bytes = 100'000;
constexpr Shape shape{bytes};

class Lifetimes : public testing::Test {
 protected:
  void SetUp() override {
    allocate(from, 0);
    allocate(to, 1);
  }
  void allocate(Partner& partner, int device) {
    partner.allocate(slot, BufferKind::device, shape.extent(), device % device_count_of_machine());
    partner.fill(slot, {}, 0);
  }
  void receive(std::uint64_t seed) {
    from.fill(slot, shape, seed);
    const Answer received = to.receive(slot, shape, from.describe(slot, shape).offer);
    ASSERT_TRUE(received.ok()) << received.where;
    ASSERT_EQ(to.check(slot, shape, bytes, seed), -1) << "seed " << seed;
  }

  Partner from;
  Partner to;
};

TEST_F(Lifetimes, memory_that_was_freed_and_allocated_again_is_mapped_anew) {
  receive(1);
  const std::uint64_t first_address = from.describe(slot, shape).offer.range_base;
  bool address_came_back = false;
  for (std::uint64_t round = 2; round < 12; ++round) {
    from.release(slot);
    allocate(from, 0);
    address_came_back = address_came_back || from.describe(slot, shape).offer.range_base == first_address;
    receive(round);
  }
  EXPECT_TRUE(address_came_back) << "the case that this test is for did not happen";
  EXPECT_LE(to.cached_ranges(), 10);
}

TEST_F(Lifetimes, a_mapping_of_freed_memory_is_dropped_when_its_address_comes_back) {
  receive(1);
  const std::uint64_t first_address = from.describe(slot, shape).offer.range_base;
  from.release(slot);
  allocate(from, 0);
  ASSERT_EQ(from.describe(slot, shape).offer.range_base, first_address);
  receive(2);
  EXPECT_EQ(to.cached_ranges(), 1);
}

TEST_F(Lifetimes, several_messages_from_one_allocation_share_a_mapping) {
  for (std::uint64_t seed = 1; seed < 5; ++seed) receive(seed);
  EXPECT_EQ(to.cached_ranges(), 1);
}

TEST_F(Lifetimes, a_sender_that_dies_before_it_is_pulled_from_is_lost) {
  from.fill(slot, shape, 1);
  const Answer offered = from.describe(slot, shape);
  from.kill();
  const Answer received = to.receive(slot, shape, offered.offer);
  EXPECT_EQ(received.code, Code::peer_lost) << received.where;
  EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
}

TEST_F(Lifetimes, a_sender_that_dies_while_it_is_pulled_from_does_no_harm) {
  receive(1);
  ASSERT_TRUE(to.begin(slot, shape, from.describe(slot, shape).offer).ok());
  from.kill();
  const Answer received = to.finish();
  EXPECT_TRUE(received.ok() || received.code == Code::cuda_failed) << received.where;
}

TEST_F(Lifetimes, a_sender_that_dies_before_its_region_is_opened_is_lost) {
  to.force_transport(TransportKind::staged);
  const Answer staged = from.stage(slot, shape, Staging::host_whole);
  from.kill();
  EXPECT_EQ(to.receive(slot, shape, staged.offer).code, Code::peer_lost);
}

/// A payload larger than the ring that it passes through, which is full, and nobody turns it yet.
class HalfWay : public Lifetimes, public testing::WithParamInterface<TransportKind> {
 protected:
  static constexpr Shape large{96u << 20};

  void SetUp() override {
    from.allocate(slot, BufferKind::device, large.extent());
    to.allocate(slot, BufferKind::device, large.extent());
    to.force_transport(GetParam());
    const Answer staged = from.stage(
        slot, large, GetParam() == TransportKind::relayed ? Staging::device_ring : Staging::host_ring);
    ASSERT_TRUE(staged.ok()) << staged.where;
    ASSERT_TRUE(to.begin(slot, large, staged.offer).ok());
  }
};

TEST_P(HalfWay, a_sender_that_dies_is_lost) {
  from.kill();
  EXPECT_EQ(to.finish().code, Code::peer_lost);
}

TEST_P(HalfWay, a_receiver_that_dies_is_lost) {
  from.serve();
  to.kill();
  EXPECT_EQ(from.served().code, Code::peer_lost);
}

TEST_P(HalfWay, a_sender_that_gives_up_tells_the_receiver) {
  from.drop_send();
  EXPECT_EQ(to.finish().code, Code::peer_lost);
}

TEST_P(HalfWay, a_receiver_that_gives_up_tells_the_sender) {
  to.drop_pull();
  from.serve();
  EXPECT_EQ(from.served().code, Code::peer_lost);
}

INSTANTIATE_TEST_SUITE_P(Transports, HalfWay, testing::Values(TransportKind::staged, TransportKind::relayed),
                         [](const auto& each) { return std::string(name_of(each.param)); });

TEST_F(Lifetimes, device_memory_of_a_relayed_payload_is_lent_again_once_its_receiver_is_through) {
  to.force_transport(TransportKind::relayed);
  for (int message = 0; message < 100; ++message) {  // more than there is memory for
    const Answer relayed = from.stage(slot, shape, Staging::device_ring);
    ASSERT_TRUE(relayed.ok()) << "message " << message << ": " << relayed.where;
    ASSERT_TRUE(to.begin(slot, shape, relayed.offer).ok());
    ASSERT_TRUE(from.produce().ok());
    from.drop_send();  // its ring is still being read
    if (message % 2 == 0) {
      ASSERT_TRUE(to.finish().ok());
    } else {
      to.drop_pull();
    }
  }
}

TEST_F(Lifetimes, an_abandoned_region_serves_no_other_message) {
  to.force_transport(TransportKind::staged);
  const Answer first = from.stage(slot, shape, Staging::host_whole);
  ASSERT_TRUE(from.produce().ok());
  from.drop_send(true);
  from.fill(slot, shape, 2);
  const Answer second = from.stage(slot, shape, Staging::host_whole);
  EXPECT_NE(first.offer.region.id, second.offer.region.id);
  from.serve();
  EXPECT_NE(to.receive(slot, shape, first.offer).code, Code::ok) << "a message that was cancelled arrived";
  EXPECT_TRUE(to.receive(slot, shape, second.offer).ok());
  EXPECT_TRUE(from.served().ok());
  EXPECT_EQ(to.check(slot, shape, bytes, 2), -1);
}

TEST_F(Lifetimes, a_region_is_used_again_once_it_is_drained) {
  to.force_transport(TransportKind::staged);
  std::uint64_t numbers[2] = {};
  for (std::uint64_t& number : numbers) {
    const Answer staged = from.stage(slot, shape, Staging::host_whole);
    number = segment_number(staged.offer.region.id);
    from.serve();
    ASSERT_TRUE(to.receive(slot, shape, staged.offer).ok());
    ASSERT_TRUE(from.served().ok());
  }
  EXPECT_EQ(numbers[0], numbers[1]);
}

TEST_F(Lifetimes, ten_thousand_messages_leave_descriptors_and_memory_as_they_were) {
  constexpr TransportKind transports[] = {TransportKind::peer, TransportKind::staged, TransportKind::relayed};
  const auto send = [&](int messages) {
    for (int message = 0; message < messages; ++message) {
      const TransportKind transport = transports[message % 3];
      to.force_transport(transport);
      Offer offer = from.describe(slot, shape).offer;
      if (transport != TransportKind::peer) {
        const Staging staging =
            transport == TransportKind::relayed ? Staging::device_ring : Staging::host_whole;
        offer = from.stage(slot, shape, staging).offer;
        from.serve();
      }
      ASSERT_TRUE(to.receive(slot, shape, offer).ok());
      ASSERT_TRUE(transport == TransportKind::peer || from.served().ok());
    }
  };
  send(500);
  const std::int64_t descriptors[] = {from.open_descriptors(), to.open_descriptors()};
  const std::int64_t memory_bytes[] = {from.resident_bytes(), to.resident_bytes()};
  send(10'000);
  EXPECT_EQ(from.open_descriptors(), descriptors[0]);
  EXPECT_EQ(to.open_descriptors(), descriptors[1]);
  // 400 bytes a message would show; sanitizers keep freed memory aside
  constexpr std::int64_t tolerance_bytes = (test_support::built_with_a_sanitizer ? 512 : 4) << 20;
  EXPECT_LE(from.resident_bytes(), memory_bytes[0] + tolerance_bytes);
  EXPECT_LE(to.resident_bytes(), memory_bytes[1] + tolerance_bytes);
}

TEST(Segments, take_no_descriptor_once_their_file_is_closed) {
  const std::size_t files = Segment::files_open();
  const std::size_t bytes = Segment::made_bytes_now();
  std::shared_ptr<Segment> segment;
  ASSERT_TRUE(Segment::make(4096, segment).ok());
  EXPECT_EQ(Segment::files_open(), files + 1);
  segment->close_file();
  EXPECT_EQ(segment->descriptor(), -1);
  EXPECT_EQ(Segment::files_open(), files);
  segment->address()[4095] = 1;  // the memory stays
  EXPECT_EQ(Segment::made_bytes_now(), bytes + 4096);
  segment.reset();
  EXPECT_EQ(Segment::files_open(), files);
  EXPECT_EQ(Segment::made_bytes_now(), bytes);
}

TEST(RegionsOfAProcess, for_small_messages_take_few_descriptors) {
  RegionPool pool;
  const std::size_t before = Segment::files_open();
  std::vector<std::unique_ptr<StagingRegion>> taken(1024);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    ASSERT_TRUE(pool.take(i % 2 == 0 ? 5000 : 65536, taken[i]).ok());
    taken[i]->ring().data[0] = static_cast<char>(i);
    taken[i]->ring().data[65535] = static_cast<char>(i);
  }
  EXPECT_LE(Segment::files_open() - before, 64u);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i]->ring().data[0], static_cast<char>(i)) << "another region lies here";
    EXPECT_EQ(taken[i]->ring().data[65535], static_cast<char>(i)) << "another region lies here";
  }
}

TEST(RegionsOfAProcess, are_bounded_in_memory_and_descriptors) {
  EXPECT_TRUE(may_buffer(1 << 20));
  EXPECT_FALSE(may_buffer(SIZE_MAX / 2));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<std::unique_ptr<StagingRegion>> one;
  ASSERT_TRUE(StagingRegion::make(4096, 1, one).ok());
  const rlimit low{4, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_FALSE(may_buffer(1 << 20)) << "one region is a quarter of four descriptors";
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(may_buffer(1 << 20));
}

/// Offers that a sender with a fault, or none at all, could publish.
class Lies : public Lifetimes {
 protected:
  void SetUp() override {
    Lifetimes::SetUp();
    from.fill(slot, shape, 1);
    staged_ = from.stage(slot, shape, Staging::host_whole).offer;
    ASSERT_TRUE(from.produce().ok());
  }
  /// Receives what `lie` makes of a good offer; the destination must stay as it was.
  template <class Lie>
  void expect_refusal(TransportKind transport, Lie lie) {
    Offer offer = transport == TransportKind::peer ? from.describe(slot, shape).offer : staged_;
    lie(offer);
    to.force_transport(transport);
    const Answer received = to.receive(slot, shape, offer);
    EXPECT_TRUE(received.code == Code::peer_lost || received.code == Code::declined ||
                received.code == Code::bad_argument)
        << "code " << static_cast<int>(received.code) << ' ' << received.where;
    EXPECT_EQ(to.check(slot, {}, 0, 0), -1);
  }
  Offer staged_{};
};

TEST_F(Lies, about_where_the_payload_lies_are_refused_by_the_peer_transport) {
  expect_refusal(TransportKind::peer, [](Offer& offer) { offer.address = offer.range_base - 1; });
  expect_refusal(TransportKind::peer,
                 [](Offer& offer) { offer.address = offer.range_base + offer.range_bytes; });
  expect_refusal(TransportKind::peer, [](Offer& offer) { offer.address = ~0ull; });
  expect_refusal(TransportKind::peer, [](Offer& offer) { offer.payload_bytes = ~0ull; });
  expect_refusal(TransportKind::peer, [](Offer& offer) { offer.range_bytes = 10; });
  expect_refusal(TransportKind::peer, [](Offer& offer) {
    offer.range_bytes = 1ull << 40;
    offer.address = offer.range_base + (1ull << 39);
  });
}

TEST_F(Lies, about_the_region_are_refused_by_the_staged_transport) {
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.descriptor = 9999; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.descriptor = 0; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.segment_bytes = 1ull << 50; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.segment_bytes = 100; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.segment_bytes -= 4096; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.id += 1; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.offset += 1; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.offset += 4096; });
  expect_refusal(TransportKind::staged,
                 [](Offer& offer) { offer.region.offset = offer.region.segment_bytes; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.region.offset = ~0ull - 4095; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.process_nonce += 1; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.process_id = -1; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.process_id = 0; });
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.payload_bytes = ~0ull; });
}

TEST_F(Lies, about_the_ring_are_refused_by_the_relayed_transport) {
  from.drop_send(true);
  staged_ = from.stage(slot, shape, Staging::device_ring).offer;
  ASSERT_TRUE(from.produce().ok());
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.region.descriptor = 9999; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.address = offer.range_base - 1; });
  expect_refusal(TransportKind::relayed,
                 [](Offer& offer) { offer.address = offer.range_base + offer.range_bytes; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.ring_bytes = ~0ull; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.ring_bytes = 1; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.ring_bytes = offer.range_bytes + 1; });
  expect_refusal(TransportKind::relayed,
                 [](Offer& offer) { offer.range_bytes = offer.ring_bytes = 1ull << 40; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.region.id += 1; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.region.segment_bytes = 100; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.process_nonce += 1; });
  expect_refusal(TransportKind::relayed, [](Offer& offer) { offer.payload_bytes = ~0ull; });
  // the header of a payload that is relayed is no region that a payload could be staged through
  expect_refusal(TransportKind::staged, [](Offer& offer) { offer.ring_bytes = 0; });
}

TEST_F(Lies, of_a_file_that_is_no_region_are_refused) {
  char path[] = "/tmp/penstock-test-XXXXXX";
  const int ordinary = mkstemp(path);
  unlink(path);
  const int unsealed = memfd_create("unsealed", 0);
  for (const int file : {ordinary, unsealed}) {
    ASSERT_EQ(ftruncate(file, 1 << 20), 0);
    expect_refusal(TransportKind::staged, [&](Offer& offer) {
      offer.process_id = getpid();
      offer.region.descriptor = file;
      offer.region.segment_bytes = 1 << 20;
    });
    close(file);
  }
}

TEST_F(Lies, about_how_much_was_produced_are_found_out) {
  // the test itself plays the sender
  std::vector<std::unique_ptr<StagingRegion>> regions;
  ASSERT_TRUE(StagingRegion::make(1 << 20, 1, regions).ok());
  StagingRegion& region = *regions.front();
  for (const std::uint64_t produced : {std::uint64_t{bytes} + 1, UINT64_MAX - 1}) {
    Offer offer{};
    offer.payload_bytes = bytes;
    offer.process_id = this_process().id;
    offer.process_nonce = this_process().nonce;
    region.begin(bytes, offer);
    region.mapped().header().produced.store(produced);
    to.force_transport(TransportKind::staged);
    EXPECT_EQ(to.receive(slot, shape, offer).code, Code::peer_lost);
  }
}

}  // namespace
}  // namespace penstock::transports::test
