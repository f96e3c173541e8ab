// The recorder through its one door: what is written is in the file, and nothing that can go wrong reaches
// the job.
#include "interpose/record/recorder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "interpose/record/file/lane.hpp"
#include "own_work.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::count_of;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

/// A block holds no more calls as numbered_call() makes them: of each, five words differ from the one before.
constexpr std::uint64_t records_per_block = trace::block_bytes / 20;
/// Nor fewer, in a block that is full.
constexpr std::uint64_t least_records_per_block = trace::block_bytes / 28;

trace::MpiCall numbered_call(std::uint64_t number) {
  trace::MpiCall call{};
  call.begin_ns = number;
  call.end_ns = number * 3;
  call.bytes = number * 5;
  call.call_site = ~number;
  call.tag = -1;
  call.peer = static_cast<std::int32_t>(number % 1000);
  call.repeats = 1;
  call.buffer = trace::BufferKind::managed;
  call.kind = trace::RecordKind::mpi_call;
  return call;
}

/// Returns how many numbered calls fill a block, from one on.
std::uint64_t calls_in_block_from(std::uint64_t first) {
  std::vector<std::byte> block(trace::block_bytes);
  trace::DeltaWriter deltas;
  std::byte* next = block.data() + trace::record_bytes;
  std::uint64_t calls = 0;
  while (next + trace::most_delta_bytes + sizeof(std::uint32_t) <= block.data() + block.size()) {
    const trace::MpiCall call = numbered_call(first + calls++);
    next = deltas.write(&call, next);
  }
  return calls;
}
std::uint64_t calls_in_two_blocks() {
  const std::uint64_t in_one = calls_in_block_from(0);
  return in_one + calls_in_block_from(in_one);
}

TEST(Recorder, before_begin_everything_is_accepted_and_nothing_happens) {
  const auto result = in_child([] {
    EXPECT_FALSE(record::is_on());
    record::write(numbered_call(1));
    EXPECT_EQ(record::intern("text"), trace::no_string);
    record::gpu_seen();
    test::OwnWork own;
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
}

TEST(Recorder, records_of_every_kind_come_back_bit_for_bit) {
  const TemporaryFolder folder;
  constexpr auto first = static_cast<int>(trace::RecordKind::communicator);
  constexpr auto last = static_cast<int>(trace::RecordKind::cuda_synchronisation);
  const auto raw_record = [](int kind) {
    test::RawRecord raw;
    for (std::size_t i = 0; i < raw.size(); ++i)
      raw[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(kind));
    raw.back() = static_cast<std::byte>(kind);
    return raw;
  };
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (int kind = first; kind <= last; ++kind) record::write_bytes(raw_record(kind).data());
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  const ReadRecording recording(folder.recording());
  for (int kind = first; kind <= last; ++kind) {
    const auto found = recording.all<test::RawRecord>(static_cast<trace::RecordKind>(kind));
    ASSERT_EQ(found.size(), 1u) << kind;
    EXPECT_EQ(found.front(), raw_record(kind)) << kind;
  }
}

TEST(Recorder, a_lane_fills_one_block_after_the_other_in_order) {
  const TemporaryFolder folder;
  constexpr std::uint64_t count = 3 * records_per_block + 7;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (std::uint64_t i = 0; i < count; ++i) record::write(numbered_call(i));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  const auto calls = recording.all<trace::MpiCall>(trace::RecordKind::mpi_call);
  ASSERT_EQ(calls.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const trace::MpiCall expected = numbered_call(i);
    ASSERT_EQ(std::memcmp(&calls[i], &expected, sizeof expected), 0) << i;
  }
  EXPECT_EQ(recording.header().dropped_records, 0u);
  EXPECT_EQ(recording.file_bytes(),
            trace::file_header_bytes + recording.header().claimed_blocks * trace::block_bytes);
}

TEST(Recorder, a_thread_of_its_own_that_goes_on_in_a_lane_changes_no_record_that_lies_there) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::thread([] {
      for (std::uint64_t i = 0; i < 5; ++i) record::write(numbered_call(i));
    }).join();
    std::thread([] {
      record::Lane* const lane = record::lane_of_this_thread();
      ASSERT_NE(lane, nullptr);
      lane->belongs_to_recorder();
      trace::DeviceActivity kernel{};
      kernel.kind = trace::RecordKind::kernel;
      std::byte* const place = lane->append(&kernel);
      ASSERT_NE(place, nullptr);
      kernel.own = 1;  // as it is set where the kernel lies
      std::memcpy(place, &kernel, sizeof kernel);
    }).join();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  const auto calls = recording.all<trace::MpiCall>(trace::RecordKind::mpi_call);
  ASSERT_EQ(calls.size(), 5u);
  for (std::uint64_t i = 0; i < calls.size(); ++i) EXPECT_EQ(calls[i].begin_ns, i);
  const auto kernels = recording.all<trace::DeviceActivity>(trace::RecordKind::kernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels.front().own, 1u);
}

TEST(Recorder, what_it_writes_is_for_its_owner_only) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    umask(0);
    ASSERT_TRUE(record::begin(folder.identity()));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(folder.recording()).permissions(),
            perms::owner_read | perms::owner_write);
}

TEST(Recorder, the_header_says_who_recorded_where_and_when) {
  const TemporaryFolder folder;
  pid_t process = 0;
  const std::uint64_t before_ns = record::now_ns();
  const auto result = in_child([&] {
    record::Identity identity = folder.identity();
    identity.world_rank = 3;
    identity.world_size = 8;
    identity.job_id_low = 0x1122334455667788;
    identity.job_id_high = 42;
    identity.mpi_family = 2;
    identity.mpi_version = "An MPI, version 1";
    ASSERT_TRUE(record::begin(identity));
    record::write(numbered_call(1));
    record::end();
    std::ofstream(folder.path() / "process") << getpid();
  });
  EXPECT_EQ(result.exit_code, 0);
  std::ifstream(folder.path() / "process") >> process;
  const ReadRecording recording(folder.path() / "out" / "rank-3.penstock");
  const trace::FileHeader& header = recording.header();
  EXPECT_EQ(header.version, trace::format_version);
  EXPECT_EQ(header.world_rank, 3);
  EXPECT_EQ(header.world_size, 8);
  EXPECT_EQ(header.process_id, process);
  EXPECT_EQ(header.job_id_low, 0x1122334455667788u);
  EXPECT_EQ(header.job_id_high, 42u);
  EXPECT_EQ(header.mpi_family, 2u);
  EXPECT_STREQ(header.mpi_version, "An MPI, version 1");
  EXPECT_NE(std::string(header.program).find("recorder_test"), std::string::npos) << header.program;
  EXPECT_NE(header.host_name[0], '\0');
  EXPECT_GE(header.begin_ns, before_ns);
  EXPECT_GE(header.end_ns, header.begin_ns);
  EXPECT_LE(header.end_ns, record::now_ns());
  EXPECT_GT(header.own_cost_ns, 0u);
  EXPECT_GT(header.start_cost_ns, 0u);
  EXPECT_GT(header.finish_cost_ns, 0u);
  EXPECT_EQ(header.features, 0u) << "no GPU, no NVTX, no simulated GPU was in the process";
}

TEST(Recorder, equal_strings_have_one_id_and_one_text) {
  const TemporaryFolder folder;
  constexpr int count = 10'000;  // the table grows meanwhile
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::vector<std::uint32_t> ids;
    for (int i = 0; i < count; ++i) ids.push_back(record::intern("string " + std::to_string(i)));
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(record::intern("string " + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
    EXPECT_NE(record::intern(""), trace::no_string);
    trace::MpiCall call = numbered_call(0);
    for (const std::uint32_t id : ids) {
      call.function = id;
      record::write(call);
    }
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());  // throws when an id has two texts
  const auto calls = recording.all<trace::MpiCall>(trace::RecordKind::mpi_call);
  ASSERT_EQ(calls.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < calls.size(); ++i)
    ASSERT_EQ(recording.text(calls[i].function), "string " + std::to_string(i));
}

TEST(Recorder, strings_longer_than_a_record_come_back_whole_and_longer_than_a_block_cut) {
  const TemporaryFolder folder;
  const auto text_of = [](std::size_t length) {
    std::string text(length, '?');
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
    return text;
  };
  constexpr std::size_t piece = sizeof(trace::Text::characters);
  const std::vector<std::size_t> lengths = {0, 1, piece - 1, piece, piece + 1, 2 * piece, 100'000};
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    trace::MpiCall call = numbered_call(0);
    for (const std::size_t length : lengths) {
      call.function = record::intern(text_of(length));
      record::write(call);
    }
    call.function = record::intern(text_of(1'000'000));
    record::write(call);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  const auto calls = recording.all<trace::MpiCall>(trace::RecordKind::mpi_call);
  ASSERT_EQ(calls.size(), lengths.size() + 1);
  for (std::size_t i = 0; i < lengths.size(); ++i)
    EXPECT_EQ(recording.text(calls[i].function), text_of(lengths[i]));
  constexpr std::size_t pieces_per_block = trace::block_bytes / trace::record_bytes - 1;
  EXPECT_EQ(recording.text(calls.back().function), text_of(piece * pieces_per_block));
}

TEST(Recorder, the_programs_own_code_is_among_the_modules) {
  const TemporaryFolder folder;
  std::uint64_t address = 0;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  address = reinterpret_cast<std::uint64_t>(&test::in_child);  // the child is a copy: same addresses
  const ReadRecording recording(folder.recording());
  bool found = false;
  for (const auto& module : recording.all<trace::Module>(trace::RecordKind::module)) {
    EXPECT_LT(module.begin, module.end);
    if (address < module.begin || address >= module.end) continue;
    found = true;
    EXPECT_EQ(recording.text(module.path), std::filesystem::read_symlink("/proc/self/exe").string());
    EXPECT_GE(module.begin, module.load_bias);
  }
  EXPECT_TRUE(found);
}

/// As the interposer does at the begin of a call.
void enter(std::uint64_t number) {
  trace::OpenCall& open = record::open_call();
  open.call = numbered_call(number);
  open.call.end_ns = 0;
}

TEST(Recorder, a_killed_job_leaves_the_call_that_it_was_in_with_its_thread) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    enter(1);
    std::thread([] { enter(2); }).join();  // its slot is the next thread's, as is its lane
    std::thread([] { enter(3); }).join();
    raise(SIGKILL);
  });
  EXPECT_EQ(result.signal, SIGKILL);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().open_call_slots, trace::most_open_calls);
  std::vector<std::uint64_t> begins;
  for (const trace::OpenCall& open : recording.open_calls()) {
    if (open.call.kind != trace::RecordKind::mpi_call) continue;
    begins.push_back(open.call.begin_ns);
    EXPECT_NE(open.thread_id, 0u);
  }
  std::sort(begins.begin(), begins.end());
  EXPECT_EQ(begins, (std::vector<std::uint64_t>{1, 3}));
}

TEST(Recorder, threads_beyond_the_slots_are_counted_and_record_all_the_same) {
  const TemporaryFolder folder;
  constexpr std::uint32_t too_many = 3;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    std::vector<std::thread> threads;
    std::barrier all_there(trace::most_open_calls + too_many);
    for (std::uint32_t i = 0; i < trace::most_open_calls + too_many; ++i) {
      threads.emplace_back([&all_there, i] {
        enter(i + 1);
        all_there.arrive_and_wait();
        record::write(record::open_call().call);
      });
    }
    for (std::thread& each : threads) each.join();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().threads_unnoticed, too_many);
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(),
            trace::most_open_calls + too_many);
}

TEST(Recorder, how_the_process_ended_is_told_by_whoever_can) {
  const auto ended_by = [](const std::function<void()>& end) {
    const TemporaryFolder folder;
    static_cast<void>(in_child([&] {
      ASSERT_TRUE(record::begin(folder.identity()));
      end();
    }));
    return ReadRecording(folder.recording()).header();
  };
  EXPECT_EQ(ended_by([] { record::end(); }).ended_by, trace::Ending::finalize);
  EXPECT_EQ(ended_by([] { std::exit(0); }).ended_by, trace::Ending::exit);
  EXPECT_EQ(ended_by([] { raise(SIGKILL); }).ended_by, trace::Ending::none);
  const trace::FileHeader aborted = ended_by([] { record::end_abruptly(5); });
  EXPECT_EQ(aborted.ended_by, trace::Ending::abort);
  EXPECT_EQ(aborted.abort_code, 5);
}

TEST(Recorder, a_process_that_does_nothing_shows_that_it_is_alive) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    const auto alive_ns = [&] { return ReadRecording(folder.recording()).header().alive_ns; };
    const std::uint64_t before_ns = alive_ns();
    while (alive_ns() == before_ns) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GT(alive_ns(), before_ns);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
}

TEST(Recorder, a_killed_job_leaves_everything_that_was_written) {
  const TemporaryFolder folder;
  constexpr std::uint64_t count = records_per_block + 100;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (std::uint64_t i = 0; i < count; ++i) record::write(numbered_call(i));
    raise(SIGKILL);
  });
  EXPECT_EQ(result.signal, SIGKILL);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), count);
  EXPECT_EQ(recording.header().end_ns, 0u) << "the job never came to MPI_Finalize";
  EXPECT_GT(recording.header().claimed_blocks, 2u);
}

TEST(Recorder, records_beyond_the_limit_are_dropped_and_counted) {
  const TemporaryFolder folder;
  constexpr std::uint64_t limit_bytes = trace::file_header_bytes + 3 * trace::block_bytes;
  const std::uint64_t fits = calls_in_two_blocks();  // the third block holds the strings
  const auto result = in_child([&] {
    record::Identity identity = folder.identity();
    identity.limit_bytes = limit_bytes;
    ASSERT_TRUE(record::begin(identity));
    for (std::uint64_t i = 0; i < fits + 1000; ++i) record::write(numbered_call(i));
    EXPECT_TRUE(record::is_on());
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(count_of("penstock: ", result.errors), 1u) << result.errors;
  EXPECT_NE(result.errors.find("PENSTOCK_TRACE_LIMIT"), std::string::npos);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), fits);
  EXPECT_EQ(recording.header().dropped_records, 1000u);
  EXPECT_EQ(recording.header().missing_from_ns, fits) << "the calls are numbered by their begin";
  EXPECT_EQ(recording.file_bytes(), limit_bytes);
  EXPECT_NE(std::string(recording.header().features_note).find("limit"), std::string::npos);
}

TEST(Recorder, what_is_missing_begins_with_the_earliest_that_any_dropped_record_tells_of) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    record::Identity identity = folder.identity();
    identity.limit_bytes = trace::file_header_bytes + 2 * trace::block_bytes;
    ASSERT_TRUE(record::begin(identity));
    const std::uint64_t fits = calls_in_block_from(10'000);
    for (std::uint64_t i = 0; i < fits; ++i) record::write(numbered_call(10'000 + i));
    record::write(numbered_call(50'000));
    trace::DeviceActivity kernel{};  // the GPU's records come late
    kernel.begin_ns = 40'000;
    kernel.end_ns = 41'000;
    kernel.kind = trace::RecordKind::kernel;
    record::write(kernel);
    trace::MessageHalf half{};  // was in flight all the time, and is unknown from its end on
    half.post_ns = 5;
    half.complete_ns = 60'000;
    half.kind = trace::RecordKind::message_half;
    record::write(half);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().dropped_records, 3u);
  EXPECT_EQ(recording.header().missing_from_ns, 40'000u);
}

/// What the table of losses in a file says.
trace::Losses losses_in(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::uint64_t generation = ReadRecording(file).header().losses_generation;
  in.seekg(trace::file_header_bytes + static_cast<std::streamoff>(generation % 2 * (trace::block_bytes / 2)));
  trace::Losses losses{};
  in.read(reinterpret_cast<char*>(&losses), sizeof losses);
  return losses;
}

record::Identity ring_of(const TemporaryFolder& folder, std::uint64_t blocks) {
  record::Identity identity = folder.identity();
  identity.limit_bytes = trace::file_header_bytes + blocks * trace::block_bytes;
  identity.keeps_last = true;
  return identity;
}

TEST(Recorder, where_nothing_is_overwritten_no_block_of_a_lane_is_ever_given_up) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (std::uint64_t i = 0; i < 3 * records_per_block; ++i) record::write(numbered_call(i));
    const record::Lane* const lane = record::lane_of_this_thread();
    ASSERT_NE(lane, nullptr);
    EXPECT_GE(lane->block(), 2u);
    EXPECT_EQ(lane->oldest_block(), 0u) << "what is missing in its records may still come";
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(Ring, keeps_the_newest_records_in_a_file_of_its_limit_and_says_since_when_they_are_complete) {
  const TemporaryFolder folder;
  constexpr std::uint64_t count = 40 * records_per_block + 7;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(ring_of(folder, 8)));
    for (std::uint64_t i = 0; i < count; ++i) record::write(numbered_call(i));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  const ReadRecording recording(folder.recording());
  EXPECT_LE(recording.file_bytes(), trace::file_header_bytes + 8 * trace::block_bytes);
  EXPECT_EQ(recording.header().dropped_records, 0u);
  EXPECT_EQ(recording.header().missing_from_ns, trace::nothing_missing);
  EXPECT_NE(recording.header().features & trace::feature::keeps_last, 0u);
  const auto calls = recording.all<trace::MpiCall>(trace::RecordKind::mpi_call);
  ASSERT_GE(calls.size(), 4 * least_records_per_block);
  for (std::uint64_t i = 0; i < calls.size(); ++i)
    ASSERT_EQ(calls[i].begin_ns, count - calls.size() + i) << i;
  const trace::Losses losses = losses_in(folder.recording());
  EXPECT_EQ(losses.lost_records, count - calls.size());
  EXPECT_EQ(losses.known_from_ns, (count - calls.size() - 1) * 3) << "the end of the last lost one";
}

TEST(Ring, overwrites_samples_of_the_GPU_as_it_does_calls) {
  const TemporaryFolder folder;
  constexpr std::uint64_t count = 40 * records_per_block;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(ring_of(folder, 8)));
    for (std::uint64_t i = 0; i < count; ++i) {
      trace::GpuSample sample{};
      sample.begin_ns = i;
      sample.end_ns = i + 1;
      sample.kind = trace::RecordKind::gpu_sample;
      record::write(sample);
    }
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const auto kept = ReadRecording(folder.recording()).all<trace::GpuSample>(trace::RecordKind::gpu_sample);
  const trace::Losses losses = losses_in(folder.recording());
  EXPECT_EQ(losses.lost_records + kept.size(), count);
  EXPECT_EQ(losses.known_from_ns, kept.front().begin_ns) << "the end of the last lost one";
}

TEST(Ring, keeps_names_however_old_they_are) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(ring_of(folder, 8)));
    const std::uint32_t name = record::intern("an old name");
    for (std::uint64_t i = 0; i < 30 * records_per_block; ++i) {
      trace::MpiCall call = numbered_call(i);
      call.function = name;
      record::write(call);
    }
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.text(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).front().function),
            "an old name");
}

trace::MessageHalf numbered_half(std::uint64_t number, std::int32_t peer, std::uint64_t key = 0) {
  trace::MessageHalf half{};
  half.post_ns = 10 * number;
  half.complete_ns = 10 * number + 5;
  half.peer = peer;
  half.tag = 3;
  half.communicator = 1;
  half.key = key;
  half.kind = trace::RecordKind::message_half;
  return half;
}

TEST(Ring, counts_the_halves_that_are_gone_by_envelope) {
  const TemporaryFolder folder;
  constexpr std::uint64_t count = 30 * records_per_block;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(ring_of(folder, 8)));
    for (std::uint64_t i = 0; i < count; ++i)
      record::write(numbered_half(i, i % 3 == 0 ? 1 : 2, i % 3 == 2 ? 77 + i : 0));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  std::map<std::pair<std::int32_t, bool>, std::uint64_t> halves;
  for (const auto& half : recording.all<trace::MessageHalf>(trace::RecordKind::message_half))
    ++halves[{half.peer, half.key != 0}];
  const trace::Losses losses = losses_in(folder.recording());
  ASSERT_EQ(losses.groups, 3u);
  EXPECT_EQ(losses.is_full, 0u);
  for (std::uint32_t i = 0; i < losses.groups; ++i) {
    const trace::LostHalves& lost = losses.lost_halves[i];
    EXPECT_EQ(lost.tag, 3);
    EXPECT_EQ(lost.halves + (halves[{lost.peer, lost.have_keys != 0}]), count / 3);
    EXPECT_LT(lost.last_post_ns, 10 * losses.lost_records);
    EXPECT_GE(lost.last_post_ns + 30, 10 * losses.lost_records);
  }
}

TEST(Ring, says_of_more_envelopes_than_it_can_count_that_it_cannot) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(ring_of(folder, 8)));
    for (std::uint64_t i = 0; i < 20 * records_per_block; ++i)
      record::write(numbered_half(i, static_cast<std::int32_t>(i)));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const trace::Losses losses = losses_in(folder.recording());
  EXPECT_EQ(losses.groups, trace::Losses::most_groups);
  EXPECT_EQ(losses.is_full, 1u);
}

TEST(Ring, of_a_killed_job_is_whole_at_any_moment) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const TemporaryFolder folder;
    const auto result = in_child([&] {
      ASSERT_TRUE(record::begin(ring_of(folder, 8)));
      std::thread killer([attempt] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + 7 * attempt));
        raise(SIGKILL);
      });
      for (std::uint64_t i = 0;; ++i) record::write(numbered_call(i));
    });
    EXPECT_EQ(result.signal, SIGKILL);
    const ReadRecording recording(folder.recording());
    const trace::Losses losses = losses_in(folder.recording());
    std::uint64_t next = 0;
    for (const test::Block& block : recording.blocks()) {
      if (block.header.sequence == losses.last_lost_block) continue;
      for (const test::RawRecord& raw : block.records) {
        if (ReadRecording::kind_of(raw) != trace::RecordKind::mpi_call) continue;
        trace::MpiCall call{};
        std::memcpy(&call, raw.data(), sizeof call);
        if (next == 0) next = losses.lost_records;
        ASSERT_EQ(call.begin_ns, next++);
      }
    }
  }
}

TEST(Ring, too_small_for_its_threads_says_so_and_loses_records_as_if_they_had_been_overwritten) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(ring_of(folder, 3)));
    for (std::uint64_t i = 0; i < 5 * records_per_block; ++i) record::write(numbered_call(i));
    std::thread([] { record::write(numbered_call(100'000)); }).join();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(count_of("PENSTOCK_TRACE_LIMIT is too small", result.errors), 1u) << result.errors;
  EXPECT_EQ(count_of("\n", result.errors), 1u) << result.errors;
  const trace::Losses losses = losses_in(folder.recording());
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(losses.lost_records + recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(),
            5 * records_per_block + 1);
}

TEST(Recorder, a_limit_below_one_block_leaves_recording_off) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    record::Identity identity = folder.identity();
    identity.limit_bytes = 1000;
    EXPECT_FALSE(record::begin(identity));
    EXPECT_FALSE(record::is_on());
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(count_of("\n", result.errors), 1u) << result.errors;
}

TEST(Recorder, an_unwritable_directory_is_said_on_one_line_and_the_job_goes_on) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "out") << "a file where the directory should be";
  const auto result = in_child([&] {
    EXPECT_FALSE(record::begin(folder.identity()));
    EXPECT_FALSE(record::is_on());
    record::write(numbered_call(1));
    EXPECT_EQ(record::intern("text"), trace::no_string);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(count_of("\n", result.errors), 1u) << result.errors;
  EXPECT_NE(result.errors.find("penstock: recording is off: cannot write " + folder.recording().string()),
            std::string::npos)
      << result.errors;
}

TEST(Recorder, the_file_size_limit_ends_the_recording_and_not_the_job) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const rlimit limit{trace::file_header_bytes + 2 * trace::block_bytes, RLIM_INFINITY};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ASSERT_TRUE(record::begin(folder.identity()));
    for (std::uint64_t i = 0; i < 3 * records_per_block; ++i) record::write(numbered_call(i));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(count_of("penstock: recording stops here: File too large", result.errors), 1u) << result.errors;
  EXPECT_EQ(count_of("\n", result.errors), 1u);
  const ReadRecording recording(folder.recording());
  const std::uint64_t fits = calls_in_block_from(0);
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), fits);
  EXPECT_EQ(recording.header().dropped_records, 3 * records_per_block - fits);
  EXPECT_EQ(recording.header().missing_from_ns, fits);
  EXPECT_GT(recording.header().end_ns, 0u);
}

TEST(Recorder, a_full_disk_ends_the_recording_and_not_the_job) {
  constexpr int may_not_mount = 77;
  const TemporaryFolder folder;
  const auto output = folder.path() / "out";
  std::filesystem::create_directory(output);
  const auto result = in_child([&] {
    // In a mount namespace of the child's own, so that nothing stays behind.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("none", output.c_str(), "tmpfs", 0, "size=1m") != 0) {
      std::exit(may_not_mount);
    }
    ASSERT_TRUE(record::begin(folder.identity()));
    for (std::uint64_t i = 0; i < 10 * records_per_block; ++i) record::write(numbered_call(i));
    record::end();
    const ReadRecording recording(folder.recording());
    const std::uint64_t fits = calls_in_two_blocks();
    EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), fits);
    EXPECT_EQ(recording.header().dropped_records, 10 * records_per_block - fits);
    EXPECT_EQ(recording.header().missing_from_ns, fits);
    EXPECT_NE(std::string(recording.header().features_note).find("No space left"), std::string::npos);
  });
  if (result.exit_code == may_not_mount) GTEST_SKIP() << "may not mount a small tmpfs";
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(count_of("penstock: recording stops here: No space left on device", result.errors), 1u)
      << result.errors;
}

TEST(Recorder, a_forked_child_writes_nothing_and_its_parent_goes_on) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    record::write(numbered_call(1));
    const pid_t child = fork();
    if (child == 0) {
      const bool was_on = record::is_on();
      for (std::uint64_t i = 0; i < 2 * records_per_block; ++i) record::write(numbered_call(1000));
      record::intern("the child's");
      record::end();
      _exit(was_on ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    record::write(numbered_call(2));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  const auto calls = recording.all<trace::MpiCall>(trace::RecordKind::mpi_call);
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].begin_ns, 1u);
  EXPECT_EQ(calls[1].begin_ns, 2u);
  EXPECT_EQ(recording.header().dropped_records, 0u);
  EXPECT_EQ(recording.header().missing_from_ns, trace::nothing_missing);
  EXPECT_GT(recording.header().end_ns, 0u);
}

auto record_into(const TemporaryFolder& folder) {
  return in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    record::end();
  });
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(Recorder, recordings_of_earlier_jobs_are_kept_in_folders_of_their_own) {
  const TemporaryFolder folder;
  const std::filesystem::path out = folder.path() / "out";
  std::filesystem::create_directories(out);
  std::ofstream(out / "notes.txt") << "the user's";
  for (const std::string earlier : {"earlier-1", "earlier-2"}) {
    // one of more ranks than the next
    for (const char* rank : {"rank-0.penstock", "rank-7.penstock"}) {
      std::ofstream(out / rank) << earlier;
      std::filesystem::last_write_time(out / rank,
                                       std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    }
    const auto result = record_into(folder);
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    EXPECT_EQ(count_of("penstock: the recording that was in", result.errors), 1u) << result.errors;
    EXPECT_NO_THROW(ReadRecording{folder.recording()});
    for (const char* rank : {"rank-0.penstock", "rank-7.penstock"})
      EXPECT_EQ(content_of(out / earlier / rank), earlier);
    EXPECT_FALSE(std::filesystem::exists(out / "rank-7.penstock"));
    std::filesystem::remove(folder.recording());
  }
  EXPECT_EQ(content_of(out / "notes.txt"), "the user's");
}

TEST(Recorder, a_recording_that_began_after_this_process_stays_and_so_do_those_of_the_same_job) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "out");
  const auto result = in_child([&] {
    std::ofstream(folder.path() / "out" / "rank-1.penstock") << "being made";
    std::ofstream(folder.recording()) << "another job's";
    EXPECT_FALSE(record::begin(folder.identity()));
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(count_of("penstock: recording is off: cannot write", result.errors), 1u) << result.errors;
  // a failure must not print a whole recording
  EXPECT_TRUE(content_of(folder.recording()) == "another job's");
  EXPECT_TRUE(content_of(folder.path() / "out" / "rank-1.penstock") == "being made");
}

TEST(Recorder, a_program_that_closes_every_descriptor_keeps_its_own_files) {
  const TemporaryFolder folder;
  const auto own_file = folder.path() / "own";
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
    for (int i = 0; i < 61; ++i) EXPECT_GE(open(own_file.c_str(), O_CREAT | O_RDWR, 0600), 0);
    for (std::uint64_t i = 0; i < 3 * records_per_block; ++i) record::write(numbered_call(i));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::filesystem::file_size(own_file), 0u);
  EXPECT_EQ(count_of("penstock: recording stops here", result.errors), 1u) << result.errors;
}

TEST(Recorder, a_second_begin_and_a_second_end_change_nothing) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_TRUE(record::begin(folder.identity()));
    EXPECT_TRUE(record::begin(folder.identity()));
    record::write(numbered_call(1));
    record::end();
    EXPECT_FALSE(record::is_on());
    record::write(numbered_call(2));
    record::end();
    EXPECT_FALSE(record::begin(folder.identity()));
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(ReadRecording(folder.recording()).all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), 1u);
}

TEST(Notice, is_one_line_whatever_is_in_it) {
  const auto result = in_child([&] { record::notice("a value\nof two lines and\033[31m"); });
  EXPECT_EQ(result.errors, "penstock: a value of two lines and [31m\n");
}

TEST(Notice, is_said_once_and_kept_whenever_it_comes) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    record::notice("said before begin");
    record::notice("said before begin");
    ASSERT_TRUE(record::begin(folder.identity()));
    record::notice("said before begin");
    record::notice("said later");
    record::notice("said later");
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "penstock: said before begin\npenstock: said later\n");
  const ReadRecording recording(folder.recording());
  const auto notices = recording.all<trace::Notice>(trace::RecordKind::notice);
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(recording.text(notices[0].text), "said before begin");
  EXPECT_EQ(recording.text(notices[1].text), "said later");
  EXPECT_LE(notices[0].at_ns, recording.header().begin_ns);
}

}  // namespace
}  // namespace penstock
