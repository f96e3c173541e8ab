// NVTX ranges through a table of functions as a program's NVTX has it, without NVIDIA's headers.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "fake_program.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

namespace nvtx = record::nvtx;
using test::FakeProgram;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

record::Identity with_nvtx(const TemporaryFolder& folder) {
  record::Identity identity = folder.identity();
  identity.with_gpu_activity = true;
  return identity;
}

struct NamedRange {
  std::string domain;
  std::string name;
  int depth;
  bool operator==(const NamedRange&) const = default;
};

std::vector<NamedRange> named_ranges(const ReadRecording& recording) {
  std::vector<NamedRange> ranges;
  for (const auto& range : recording.all<trace::Range>(trace::RecordKind::range)) {
    EXPECT_LE(range.begin_ns, range.end_ns);
    EXPECT_NE(range.thread_id, 0u);
    ranges.push_back({recording.text(range.domain), recording.text(range.name), range.depth});
  }
  return ranges;
}

record::Identity with_window(const TemporaryFolder& folder, const char* window) {
  record::Identity identity = with_nvtx(folder);
  EXPECT_TRUE(record::parse_window(window, identity.window));
  return identity;
}

trace::MpiCall call_now() {
  trace::MpiCall call{};
  call.begin_ns = call.end_ns = record::now_ns();
  call.kind = trace::RecordKind::mpi_call;
  return call;
}

TEST(Window, of_a_range_is_from_its_first_wanted_entry_to_the_end_of_the_last) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_window(folder, "step:2:3")));
    for (int step = 1; step <= 5; ++step) {
      FakeProgram::push("step");
      FakeProgram::push("inner");
      record::write(call_now());
      FakeProgram::pop();
      FakeProgram::pop();
    }
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");
  const ReadRecording recording(folder.recording());
  const trace::FileHeader& header = recording.header();
  EXPECT_NE(header.features & trace::feature::window, 0u);
  std::vector<trace::Range> steps;
  for (const auto& range : recording.all<trace::Range>(trace::RecordKind::range)) {
    if (recording.text(range.name) == "step") steps.push_back(range);
  }
  ASSERT_EQ(steps.size(), 3u)
      << "what came before is not overwritten yet, and what comes behind is not taken";
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(steps[i].entry, i + 1);
  EXPECT_EQ(header.window_begin_ns, steps[1].begin_ns);
  EXPECT_EQ(header.window_end_ns, steps[2].end_ns);
  EXPECT_EQ(header.missing_from_ns, header.window_end_ns);
  EXPECT_EQ(header.dropped_records, 0u);
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), 3u);
}

TEST(Window, keeps_all_of_what_is_in_it_and_overwrites_what_came_before) {
  const TemporaryFolder folder;
  constexpr std::uint64_t many = 20 * (trace::block_bytes / 12);  // the times differ, and each has a head
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_window(folder, "solve")));
    for (std::uint64_t i = 0; i < many; ++i) record::write(call_now());
    FakeProgram::push("solve");
    for (std::uint64_t i = 0; i < many; ++i) record::write(call_now());
    FakeProgram::pop();
    for (std::uint64_t i = 0; i < many; ++i) record::write(call_now());
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0);
  const ReadRecording recording(folder.recording());
  const trace::FileHeader& header = recording.header();
  std::uint64_t in_window = 0;
  for (const auto& call : recording.all<trace::MpiCall>(trace::RecordKind::mpi_call)) {
    in_window += call.begin_ns >= header.window_begin_ns ? 1 : 0;
    ASSERT_LE(call.begin_ns, header.window_end_ns);
  }
  EXPECT_EQ(in_window, many);
  EXPECT_LE(header.claimed_blocks, 20u + 8u);
}

TEST(Window, that_never_begins_is_said_once_when_the_recording_ends) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_window(folder, "step:3:4")));
    FakeProgram::push("step");
    FakeProgram::pop();
    record::end();
  });
  EXPECT_EQ(
      result.errors,
      "penstock: the window to be recorded never began, so nothing is recorded: NVTX range \"step\" was "
      "not entered 3 times\n");
  EXPECT_EQ(ReadRecording(folder.recording()).header().window_begin_ns, 0u);
}

TEST(Window, of_a_range_that_is_never_entered_is_said_to_be_so) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_window(folder, "step")));
    record::end();
  });
  EXPECT_EQ(
      result.errors,
      "penstock: the window to be recorded never began, so nothing is recorded: NVTX range \"step\" was "
      "not entered\n");
}

TEST(Window, is_read_as_people_write_it) {
  const auto parsed = [](const char* text) {
    record::WindowRequest request;
    if (!record::parse_window(text, request)) return std::string("no");
    if (request.by == record::WindowRequest::By::profiler) return std::string("profiler");
    return request.range + " " + std::to_string(request.first) + " " + std::to_string(request.last);
  };
  EXPECT_EQ(parsed("profiler"), "profiler");
  EXPECT_EQ(parsed("step"), "step 1 1");
  EXPECT_EQ(parsed("step:7"), "step 7 7");
  EXPECT_EQ(parsed("step:100:200"), "step 100 200");
  EXPECT_EQ(parsed("step:100:"), "step 100 0");
  EXPECT_EQ(parsed("solver::solve:2:3"), "solver::solve 2 3");
  EXPECT_EQ(parsed("solver::solve"), "solver::solve 1 1");
  EXPECT_EQ(parsed("phase 1: go"), "phase 1: go 1 1");
  EXPECT_EQ(parsed("profiler:1"), "profiler 1 1");
  for (const char* wrong : {"", ":3", "step:5:3"}) EXPECT_EQ(parsed(wrong), "no") << wrong;
}

TEST(NvtxCapture, pushed_ranges_are_recorded_when_they_are_popped_with_their_depth) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    EXPECT_EQ(FakeProgram::push("outer"), 0);
    EXPECT_EQ(FakeProgram::push("inner"), 1);
    EXPECT_EQ(FakeProgram::pop(), 1);
    EXPECT_EQ(FakeProgram::pop(), 0);
    EXPECT_LT(FakeProgram::pop(), 0) << "nothing is open";
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_NE(recording.header().features & trace::feature::ranges, 0u);
  EXPECT_EQ(named_ranges(recording), (std::vector<NamedRange>{{"", "inner", 1}, {"", "outer", 0}}));
  const auto ranges = recording.all<trace::Range>(trace::RecordKind::range);
  EXPECT_LE(ranges[1].begin_ns, ranges[0].begin_ns);
  EXPECT_GE(ranges[1].end_ns, ranges[0].end_ns);
}

TEST(NvtxCapture, each_domain_nests_for_itself) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    void* library = FakeProgram::domain("library");
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    EXPECT_EQ(FakeProgram::push("step"), 0);
    EXPECT_EQ(FakeProgram::push(library, FakeProgram::message("gemm")), 0);
    EXPECT_EQ(FakeProgram::pop(), 0) << "the application's, although the library's lies on top";
    EXPECT_EQ(FakeProgram::pop(library), 0);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(named_ranges(ReadRecording(folder.recording())),
            (std::vector<NamedRange>{{"", "step", 0}, {"library", "gemm", 0}}));
}

TEST(NvtxCapture, messages_of_every_type_are_resolved) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    void* domain = FakeProgram::domain("solver");
    void* registered = FakeProgram::registered(domain, "made before begin");
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    nvtx::EventAttributes attributes{};
    attributes.message_type = nvtx::message_registered;
    attributes.message.registered = registered;
    FakeProgram::push(domain, attributes);
    FakeProgram::pop(domain);
    attributes.message_type = nvtx::message_unicode;
    attributes.message.unicode = L"größer \u2192 \U0001F600";
    FakeProgram::push(domain, attributes);
    FakeProgram::pop(domain);
    FakeProgram::call<int>(nvtx::module_core, nvtx::core_range_push_w, L"wide");
    FakeProgram::pop();
    FakeProgram::push(nullptr, nvtx::EventAttributes{});
    FakeProgram::pop(nullptr);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(named_ranges(ReadRecording(folder.recording())),
            (std::vector<NamedRange>{{"solver", "made before begin", 0},
                                     {"solver",
                                      "gr\xc3\xb6\xc3\x9f"
                                      "er \xe2\x86\x92 \xf0\x9f\x98\x80",
                                      0},
                                     {"", "wide", 0},
                                     {"", "", 0}}));
}

TEST(NvtxCapture, started_ranges_end_on_any_thread) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    const nvtx::RangeId first = FakeProgram::start("first");
    const nvtx::RangeId second = FakeProgram::start("second");
    EXPECT_NE(first, second);
    std::jthread([&] { FakeProgram::end(first); });
    FakeProgram::end(first);  // ended already
    FakeProgram::end(second);
    FakeProgram::end(0);
    FakeProgram::end(12345);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(named_ranges(ReadRecording(folder.recording())),
            (std::vector<NamedRange>{{"", "first", 255}, {"", "second", 255}}))
      << "each once, in the order of the threads' blocks";
}

TEST(NvtxCapture, started_ranges_are_independent_in_many_threads) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([thread] {
        const std::string name = "of thread " + std::to_string(thread);
        for (int i = 0; i < 10'000; ++i) FakeProgram::end(FakeProgram::start(name.c_str()));
      });
    }
    threads.clear();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.all<trace::Range>(trace::RecordKind::range).size(), 40'000u);
  EXPECT_EQ(recording.header().dropped_records, 0u);
}

TEST(NvtxCapture, more_started_ranges_than_there_are_places_are_dropped_and_counted) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    std::vector<nvtx::RangeId> open;
    for (int i = 0; i < 5000; ++i) open.push_back(FakeProgram::start("open"));
    for (const nvtx::RangeId id : open) FakeProgram::end(id);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  const auto ranges = recording.all<trace::Range>(trace::RecordKind::range).size();
  EXPECT_LT(ranges, 5000u);
  EXPECT_EQ(ranges + recording.header().dropped_records, 5000u);
}

TEST(NvtxCapture, ranges_that_nest_too_deep_are_dropped_and_the_outer_ones_stay_right) {
  const TemporaryFolder folder;
  constexpr int depth = 100;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    for (int i = 0; i < depth; ++i) FakeProgram::push(std::to_string(i).c_str());
    for (int i = 0; i < depth; ++i) FakeProgram::pop();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  const auto ranges = named_ranges(recording);
  ASSERT_EQ(ranges.size() + recording.header().dropped_records, static_cast<std::size_t>(depth));
  for (const NamedRange& range : ranges) EXPECT_EQ(range.name, std::to_string(range.depth));
}

TEST(NvtxCapture, ranges_open_in_MPI_Finalize_end_there) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    FakeProgram::push("main");
    record::end();
    FakeProgram::pop();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(named_ranges(recording), (std::vector<NamedRange>{{"", "main", 0}}));
  EXPECT_EQ(recording.all<trace::Range>(trace::RecordKind::range)[0].end_ns, recording.header().end_ns);
}

TEST(NvtxCapture, outside_a_recording_calls_pass_and_later_ranges_are_right) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    FakeProgram::push("before begin");
    const nvtx::RangeId started = FakeProgram::start("before begin");
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    FakeProgram::push("within");
    FakeProgram::pop();
    FakeProgram::pop();
    FakeProgram::end(started);
    record::end();
    FakeProgram::push("after the end");
    FakeProgram::pop();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(named_ranges(ReadRecording(folder.recording())), (std::vector<NamedRange>{{"", "within", 0}}));
}

TEST(NvtxCapture, is_off_when_GPU_activity_is_not_wanted) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(folder.identity()));
    FakeProgram::push("range");
    FakeProgram::pop();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_TRUE(named_ranges(recording).empty());
  EXPECT_EQ(recording.header().features & trace::feature::ranges, 0u);
}

TEST(NvtxCapture, a_program_whose_tables_are_unknown_is_refused) {
  EXPECT_EQ(InitializeInjectionNvtx2([](std::uint32_t) -> const void* { return nullptr; }), 0);
}

TEST(NvtxCapture, ranges_with_payloads_nest_like_others) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_EQ(FakeProgram::attach_payloads(), 1);
    void* solver = FakeProgram::domain("solver");
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    FakeProgram::push(solver, FakeProgram::message("outer"));
    FakeProgram::push(solver, FakeProgram::message("popped with a payload"));
    const nvtx::PayloadData data{nvtx::first_static_schema, 4, "abc"};
    EXPECT_EQ(FakeProgram::pop_payload(solver, &data, 1), 1);
    EXPECT_EQ(FakeProgram::pop(solver), 0);
    EXPECT_EQ(FakeProgram::push_payload(solver, &data, 1), 0);
    EXPECT_EQ(FakeProgram::pop(solver), 0);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(named_ranges(recording),
            (std::vector<NamedRange>{
                {"solver", "popped with a payload", 1}, {"solver", "outer", 0}, {"solver", "", 0}}));
  EXPECT_TRUE(recording.all<trace::NcclCall>(trace::RecordKind::nccl_call).empty()) << "not NCCL's";
}

TEST(NvtxCapture, an_unknown_extension_is_taken_as_it_is) {
  nvtx::ExtensionModuleInfo module{};
  module.struct_size = sizeof module;
  module.module_id = 1;
  EXPECT_EQ(InitializeInjectionNvtxExtension(&module), 1);
  module.module_id = nvtx::module_payload;
  EXPECT_EQ(InitializeInjectionNvtxExtension(&module), 1) << "it has no slots";
  module.struct_size = 8;
  EXPECT_EQ(InitializeInjectionNvtxExtension(&module), 0);
  EXPECT_EQ(InitializeInjectionNvtxExtension(nullptr), 0);
}

}  // namespace
}  // namespace penstock
