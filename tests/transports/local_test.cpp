// The local transport: both sides in this process.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "tests/transports/busy_stream.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/copy_selection/start_copy.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/transport.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports::test {
namespace {

constexpr std::size_t bytes = 600'001;

BufferView place(const GpuMemory& memory, const Layout& layout) {
  return {inspect(memory.data()), layout};
}

Status finish(Pull& pull) {
  bool finished = false;
  while (!finished) {
    if (Status state = pull.advance(finished); !state.ok()) return state;
  }
  return {};
}

/// By whatever transport the chooser names; `sent` drives the sender where it has to stage.
Status transfer(const BufferView& source, const BufferView& destination, Choice& choice) {
  const char* why_not = "";
  Offer offer = make_offer(source, &why_not);
  choice = choose(Payload(offer, destination));
  std::unique_ptr<StagedSend> send;
  if (choice.transport == nullptr) {
    if (Status started = StagedSend::start(source, Staging::host_whole, offer, send); !started.ok())
      return started;
    choice = choose(Payload(offer, destination));
  }
  std::unique_ptr<Pull> pull;
  if (Status started = choice.transport->start(Payload(offer, destination), pull); !started.ok())
    return started;
  bool finished = false;
  bool produced = send == nullptr;
  while (!finished) {
    if (!produced) {
      if (Status state = send->advance(produced); !state.ok()) return state;
    }
    if (Status state = pull->advance(finished); !state.ok()) return state;
  }
  return {};
}

TEST(LocalTransport, carries_every_kind_of_memory_to_every_other_on_any_device) {
  Layout strided;
  strided.append({8, 1000, bytes / 1000, 1500});
  strided.append({1'000'000, bytes % 1000, 1, 0});
  ASSERT_EQ(strided.bytes(), bytes);
  for (const BufferKind from_kind : buffer_kinds) {
    for (const BufferKind to_kind : buffer_kinds) {
      for (int to_device = 0; to_device < device_count(); ++to_device) {
        for (const Layout& to_layout : {Layout::contiguous(bytes, 3), strided}) {
          SCOPED_TRACE(testing::Message() << name_of(from_kind) << " to " << name_of(to_kind) << " on device "
                                          << to_device << ", blocks: " << to_layout.blocks().size());
          const GpuMemory from(from_kind, bytes);
          const GpuMemory to(to_kind, 1'000'064, to_device);
          fill(from, Layout::contiguous(bytes), bytes, 1);
          fill(to, {}, 0, 0);
          Choice choice;
          Status status = transfer(place(from, Layout::contiguous(bytes)), place(to, to_layout), choice);
          ASSERT_TRUE(status.ok()) << status.where() << ' ' << status.detail();
          EXPECT_EQ(first_difference(to, to_layout, bytes, 1), -1);
          if (to_layout.is_contiguous() || to_device == 0) {
            EXPECT_EQ(choice.transport->kind(), TransportKind::local) << choice.reason;
            EXPECT_STREQ(choice.reason, "same process");
          } else if (choice.transport->kind() == TransportKind::staged) {
            EXPECT_STREQ(choice.reason,
                         "receiver's layout is not contiguous, and the sender's device is another");
          }
        }
      }
    }
  }
}

/// The first allocation decides who may read all: the processor must not, if another one is a device's.
TEST(LocalTransport, leaves_rows_of_several_allocations_to_the_copy_engine) {
  // one of the devices' lies in front of the host's, whether addresses grow or fall
  const GpuMemory one(BufferKind::device, 4000);
  const GpuMemory second(BufferKind::pinned, 4000);
  const GpuMemory other(BufferKind::device, 4000);
  const GpuMemory& first = one.data() < other.data() ? one : other;
  if (first.data() > second.data()) GTEST_SKIP() << "no memory of a device lies in front of the host's";
  const Layout row = Layout::contiguous(1000);
  fill(first, row, 1000, 3);
  fill(second, row, 1000, 4);
  Layout rows = row;
  rows.append({static_cast<const char*>(second.data()) - static_cast<const char*>(first.data()), 1000});
  ASSERT_TRUE(rows.loops().has_value());
  const GpuMemory to(BufferKind::device, 3000);
  fill(to, {}, 0, 0);
  Choice choice;
  ASSERT_TRUE(transfer(place(first, rows), place(to, Layout::contiguous(2000)), choice).ok());
  EXPECT_EQ(choice.transport->kind(), TransportKind::staged);
  const std::vector<std::uint8_t> arrived = to.read();
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(arrived[i], payload_byte(3, i));
    ASSERT_EQ(arrived[1000 + i], payload_byte(4, i));
  }
}

TEST(LocalTransport, gathers_what_lies_in_pieces_within_a_device_and_stages_the_rest) {
  Layout strided;
  strided.append({0, 10, 100, 30});
  Layout irregular = strided;
  irregular.append({4000, 7});
  for (const bool lands_on_device : {true, false}) {
    for (const Layout& layout : {strided, irregular}) {
      SCOPED_TRACE(testing::Message() << "to device: " << lands_on_device << ", bytes: " << layout.bytes());
      const std::size_t payload = layout.bytes();
      const GpuMemory from(BufferKind::device, 5000);
      const GpuMemory to(lands_on_device ? BufferKind::device : BufferKind::pinned, 2000);
      fill(from, layout, payload, 5);
      fill(to, {}, 0, 0);
      Choice choice;
      ASSERT_TRUE(transfer(place(from, layout), place(to, Layout::contiguous(payload)), choice).ok());
      const bool is_gathered = lands_on_device && layout.loops();
      EXPECT_EQ(choice.transport->kind(), is_gathered ? TransportKind::local : TransportKind::staged);
      EXPECT_STREQ(choice.reason, is_gathered ? "same process" : "sender's payload is not contiguous");
      EXPECT_EQ(first_difference(to, Layout::contiguous(payload), payload, 5), -1);
    }
  }
}

/// In a process of its own: what a GPU is shared with stays known.
TEST(LocalTransport, leaves_a_gpu_that_another_process_shares_to_host_memory_below_a_size) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        set_shared_gpu_check([](std::uint64_t) { return true; });
        Tuning table = shipped_tuning();
        const GpuMemory from(BufferKind::device, bytes);
        const GpuMemory to(BufferKind::device, bytes);
        const Layout whole = Layout::contiguous(bytes);
        const auto carrier = [&](std::uint64_t least) {
          table.shared_gpu_from = least;
          set_tuning(table);
          fill(from, whole, bytes, 6);
          fill(to, {}, 0, 0);
          Choice choice;
          EXPECT_TRUE(transfer(place(from, whole), place(to, whole), choice).ok());
          EXPECT_EQ(first_difference(to, whole, bytes, 6), -1);
          return choice.transport->kind();
        };
        EXPECT_EQ(carrier(bytes + 1), TransportKind::staged);
        EXPECT_EQ(carrier(bytes), TransportKind::local);
        // at once: see joint_uploads_test.cpp
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(LocalTransport, refuses_a_senders_buffer_that_was_freed) {
  const GpuMemory to(BufferKind::device, bytes);
  auto from = std::make_unique<GpuMemory>(BufferKind::device, bytes);
  const char* why_not = "";
  const Offer offer = make_offer(place(*from, Layout::contiguous(bytes)), &why_not);
  from.reset();
  const BufferView destination = place(to, Layout::contiguous(bytes));
  const Choice choice = choose(Payload(offer, destination));
  ASSERT_NE(choice.transport, nullptr);
  std::unique_ptr<Pull> pull;
  EXPECT_EQ(choice.transport->start(Payload(offer, destination), pull).code(), Code::bad_argument);
}

TEST(LocalTransport, writes_only_after_what_the_receiver_queued_before) {
  const GpuMemory from(BufferKind::device, bytes);
  const GpuMemory to(BufferKind::device, bytes);
  fill(from, Layout::contiguous(bytes), bytes, 1);
  const char* why_not = "";
  const Offer offer = make_offer(place(from, Layout::contiguous(bytes)), &why_not);
  const BufferView destination = place(to, Layout::contiguous(bytes));
  BusyStream busy(CU_STREAM_LEGACY);
  REQUIRE_CUDA(cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to.data()), 0, bytes, CU_STREAM_LEGACY));
  std::unique_ptr<Pull> pull;
  ASSERT_TRUE(choose(Payload(offer, destination)).transport->start(Payload(offer, destination), pull).ok());
  for (int poll = 0; poll < 1000; ++poll) {
    bool finished = false;
    ASSERT_TRUE(pull->advance(finished).ok());
    ASSERT_FALSE(finished);
  }
  busy.release();
  ASSERT_TRUE(finish(*pull).ok());
  EXPECT_EQ(first_difference(to, Layout::contiguous(bytes), bytes, 1), -1);
}

TEST(LocalTransport, serves_several_threads_at_once) {
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      const int devices = device_count();
      for (std::uint64_t round = 0; round < 10; ++round) {
        const BufferKind from_kind = buffer_kinds[(thread + round) % std::size(buffer_kinds)];
        const BufferKind to_kind = buffer_kinds[(thread * 2 + round * 5) % std::size(buffer_kinds)];
        const GpuMemory from(from_kind, bytes, static_cast<int>(round) % devices);
        const GpuMemory to(to_kind, bytes, static_cast<int>(thread) % devices);
        const Layout all = Layout::contiguous(bytes);
        fill(from, all, bytes, thread);
        Choice choice;
        ASSERT_TRUE(transfer(place(from, all), place(to, all), choice).ok());
        ASSERT_EQ(first_difference(to, all, bytes, thread), -1);
        std::vector<std::uint8_t> host(bytes);
        ASSERT_TRUE(download(host.data(), place(from, all)).ok());
        ASSERT_TRUE(upload(place(to, all), host.data()).ok());
        ASSERT_EQ(first_difference(to, all, bytes, thread), -1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(BouncePull, many_take_turns_and_all_arrive_but_those_that_are_dropped) {
  use_device(0);
  constexpr std::size_t count = 20;
  constexpr std::size_t each = 700'001;
  const GpuMemory source(BufferKind::device, count * each);
  std::vector<std::uint8_t> content(source.bytes());
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = payload_byte(7, i);
  source.write(content);
  std::vector<std::uint8_t> arrived(source.bytes(), guard_byte);
  const cuda::ContextRef context = cuda::Context::any(0);
  std::vector<std::unique_ptr<Pull>> pulls(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CopySource part{static_cast<const char*>(source.data()) + i * each, each};
    const BufferView place{inspect(arrived.data() + i * each), Layout::contiguous(each)};
    ASSERT_TRUE(start_copy(part, place, context, pulls[i]).ok());
  }
  const auto is_dropped = [](std::size_t i) { return i == 3 || i == 15; };
  for (std::size_t i = 0; i < count; ++i) {
    if (is_dropped(i)) pulls[i].reset();
  }
  for (std::size_t left = count - 2; left > 0;) {
    for (std::unique_ptr<Pull>& pull : pulls) {
      if (pull == nullptr) continue;
      bool finished = false;
      ASSERT_TRUE(pull->advance(finished).ok());
      if (!finished) continue;
      pull.reset();
      --left;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (is_dropped(i)) continue;
    const auto offset = static_cast<std::ptrdiff_t>(i * each);
    ASSERT_TRUE(
        std::equal(content.begin() + offset, content.begin() + offset + each, arrived.begin() + offset))
        << "pull " << i;
  }
}

}  // namespace
}  // namespace penstock::transports::test
