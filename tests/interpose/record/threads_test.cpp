// Many threads at once: what each wrote is whole and in order, whatever the others do.
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

/// A block holds no more: of each, a word differs from the one before, and the head is another.
constexpr std::uint64_t records_per_block = trace::block_bytes / 8;

void write_call(std::uint64_t writer, std::uint64_t number, std::uint32_t function = 0) {
  trace::MpiCall call{};
  call.begin_ns = number;
  call.call_site = writer;
  call.function = function;
  call.kind = trace::RecordKind::mpi_call;
  record::write(call);
}

/// Numbers by writer, each writer's in the order of its lane.
std::map<std::uint64_t, std::vector<std::uint64_t>> numbers_by_writer(const ReadRecording& recording) {
  std::vector<test::Block> blocks = recording.blocks();
  std::sort(blocks.begin(), blocks.end(), [](const test::Block& a, const test::Block& b) {
    return std::pair(a.header.lane, a.header.ordinal) < std::pair(b.header.lane, b.header.ordinal);
  });
  std::map<std::uint64_t, std::vector<std::uint64_t>> numbers;
  for (const test::Block& block : blocks) {
    for (const test::RawRecord& raw : block.records) {
      if (ReadRecording::kind_of(raw) != trace::RecordKind::mpi_call) continue;
      trace::MpiCall call;
      std::memcpy(&call, raw.data(), sizeof call);
      numbers[call.call_site].push_back(call.begin_ns);
    }
  }
  return numbers;
}

void expect_whole_and_ordered(const std::vector<std::uint64_t>& numbers, std::uint64_t count) {
  ASSERT_EQ(numbers.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(numbers[i], i);
}

TEST(RecorderThreads, each_threads_records_are_whole_and_in_order) {
  const TemporaryFolder folder;
  constexpr std::uint64_t writers = 8;
  constexpr std::uint64_t count = 2 * records_per_block + 11;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::vector<std::jthread> threads;
    for (std::uint64_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([writer] {
        for (std::uint64_t i = 0; i < count; ++i) write_call(writer, i);
      });
    }
    threads.clear();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto numbers = numbers_by_writer(ReadRecording(folder.recording()));
  ASSERT_EQ(numbers.size(), writers);
  for (const auto& [writer, of_writer] : numbers) expect_whole_and_ordered(of_writer, count);
}

TEST(RecorderThreads, a_thread_that_ends_leaves_its_lane_to_the_next) {
  const TemporaryFolder folder;
  constexpr std::uint64_t writers = 200;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (std::uint64_t writer = 0; writer < writers; ++writer) {
      std::jthread([writer] {
        for (std::uint64_t i = 0; i < 10; ++i) write_call(writer, i);
      });
    }
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  const auto numbers = numbers_by_writer(recording);
  ASSERT_EQ(numbers.size(), writers);
  for (const auto& [writer, of_writer] : numbers) expect_whole_and_ordered(of_writer, 10);
  EXPECT_LE(recording.header().claimed_blocks, 3u) << "short threads one after the other share a block";
}

TEST(RecorderThreads, each_record_lies_behind_the_name_of_its_thread) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (const char* name : {"red", "a name that is too long for the system"}) {
      std::jthread([name] {
        const std::string kept = std::string(name).substr(0, 15);
        pthread_setname_np(pthread_self(), kept.c_str());
        write_call(static_cast<std::uint64_t>(gettid()), 0);
        write_call(static_cast<std::uint64_t>(gettid()), 1);
      });
    }
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  std::vector<std::string> names;
  std::size_t calls = 0;
  const ReadRecording recording(folder.recording());
  for (const test::Block& block : recording.blocks()) {
    std::uint64_t thread_id = block.header.thread_id;
    const std::string first_name = block.header.thread_name;
    for (const test::RawRecord& raw : block.records) {
      if (ReadRecording::kind_of(raw) == trace::RecordKind::thread) {
        trace::Thread thread{};
        std::memcpy(&thread, raw.data(), sizeof thread);
        thread_id = thread.thread_id;
        names.emplace_back(thread.name);
      } else if (ReadRecording::kind_of(raw) == trace::RecordKind::mpi_call) {
        trace::MpiCall call;
        std::memcpy(&call, raw.data(), sizeof call);
        EXPECT_EQ(call.call_site, thread_id);
        if (calls++ == 0) names.emplace_back(first_name);
      }
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"red", "a name that is "}));
  EXPECT_EQ(calls, 4u);
}

TEST(RecorderThreads, a_record_from_a_thread_local_destructor_is_kept) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::jthread([] {
      struct WritesLast {
        ~WritesLast() { write_call(7, 1); }
      };
      static thread_local WritesLast last;  // made before the lane, so ended after it
      (void)&last;
      write_call(7, 0);
    });
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(ReadRecording(folder.recording()).all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), 2u);
}

TEST(RecorderThreads, threads_that_meet_new_strings_together_agree_on_their_ids) {
  const TemporaryFolder folder;
  constexpr std::uint64_t writers = 6;
  constexpr std::uint64_t names = 5000;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::vector<std::jthread> threads;
    for (std::uint64_t writer = 0; writer < writers; ++writer) {
      threads.emplace_back([writer] {
        for (std::uint64_t i = 0; i < names; ++i)
          write_call(writer, i, record::intern("name " + std::to_string(i)));
      });
    }
    threads.clear();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());  // throws when an id has two texts
  for (const auto& call : recording.all<trace::MpiCall>(trace::RecordKind::mpi_call)) {
    ASSERT_EQ(recording.text(call.function), "name " + std::to_string(call.begin_ns));
  }
}

TEST(RecorderThreads, ending_while_threads_write_harms_nobody) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> writing{0};
    std::vector<std::jthread> threads;
    for (std::uint64_t writer = 0; writer < 4; ++writer) {
      threads.emplace_back([&, writer] {
        for (std::uint64_t i = 0; !stop.load(); ++i) {
          write_call(writer, i);
          record::notice("from every thread");
          if (i == 100) ++writing;
        }
      });
    }
    while (writing.load() < 4) std::this_thread::yield();
    record::end();
    stop.store(true);
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "penstock: from every thread\n");
  for (const auto& [writer, numbers] : numbers_by_writer(ReadRecording(folder.recording()))) {
    expect_whole_and_ordered(numbers, numbers.size());
  }
}

}  // namespace
}  // namespace penstock
