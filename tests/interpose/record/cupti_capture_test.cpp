// The GPU collector against a fake libcupti: what records become, how Penstock's own work is told apart in
// whatever order records come, and what is left when CUPTI is missing, taken or unknown.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "fake_cupti.hpp"
#include "interpose/record/gpu/activity_buffers.hpp"
#include "interpose/record/gpu/activity_writer.hpp"
#include "interpose/record/gpu/cuda_presence.hpp"
#include "interpose/record/recorder.hpp"
#include "own_work.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::FakeCuptiBehaviour;
using test::FakeCuptiCall;
using test::FakeCuptiControl;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

const std::string& fake_cupti() {
  static const std::string path = test::built_library("libpenstock_fake_cupti.so");
  return path;
}

FakeCuptiControl& load_fake(FakeCuptiBehaviour behaviour = FakeCuptiBehaviour::normal) {
  setenv("PENSTOCK_CUPTI", fake_cupti().c_str(), 1);
  void* library = dlopen(fake_cupti().c_str(), RTLD_NOW);
  auto* control =
      library == nullptr ? nullptr : static_cast<FakeCuptiControl*>(dlsym(library, "fake_cupti_control"));
  if (control == nullptr) throw std::runtime_error(dlerror());
  control->behaviour = behaviour;
  return *control;
}

record::Identity with_gpu(const TemporaryFolder& folder) {
  record::Identity identity = folder.identity();
  identity.with_gpu_activity = true;
  return identity;
}

/// Records as CUPTI lays them in a buffer, one behind the other.
class ActivityBuffer {
 public:
  template <typename Record>
  ActivityBuffer& add(const Record& record) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof record);
    return *this;
  }
  void deliver(const FakeCuptiControl& cupti) const {
    ASSERT_TRUE(cupti.deliver(bytes_.data(), bytes_.size()));
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

CUpti_ActivityKernel10 kernel(std::uint32_t correlation, const char* name = "a_kernel",
                              std::uint64_t end = 2000) {
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = 1000;
  record.end = end;
  record.deviceId = 3;
  record.streamId = 17;
  record.correlationId = correlation;
  record.name = name;
  return record;
}

CUpti_ActivityMemcpy6 copy(std::uint32_t correlation) {
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  record.bytes = 4096;
  record.start = 1100;
  record.end = 1200;
  record.streamId = 18;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityMemcpyPtoP4 peer_copy(std::uint32_t correlation) {
  CUpti_ActivityMemcpyPtoP4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  record.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  record.bytes = 8192;
  record.start = 1300;
  record.end = 1400;
  record.deviceId = 1;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityMemset4 memset_of(std::uint32_t correlation) {
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.bytes = 64;
  record.start = 1500;
  record.end = 1600;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivitySynchronization2 synchronisation(std::uint32_t correlation, std::uint64_t end = 2900) {
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  record.start = 900;
  record.end = end;
  record.streamId = 17;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityExternalCorrelation own(std::uint32_t correlation,
                                      CUpti_ExternalCorrelationKind kind = record::own_work_kind) {
  CUpti_ActivityExternalCorrelation record{};
  record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  record.externalKind = kind;
  record.externalId = 1;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityAPI driver_call(std::uint32_t correlation, std::uint64_t start, std::uint32_t thread = 0) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  record.start = start;
  record.end = start + 10;
  record.threadId = thread;
  record.correlationId = correlation;
  return record;
}

CUpti_ActivityAPI runtime_call(std::uint32_t correlation, std::uint64_t start, std::uint32_t thread) {
  CUpti_ActivityAPI record = driver_call(correlation, start, thread);
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  return record;
}

TEST(CuptiCapture, an_abrupt_end_asks_it_for_nothing_more) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    FakeCuptiControl& cupti = load_fake();
    record::begin(with_gpu(folder));
    record::gpu_seen();
    record::end_abruptly(1);
    record::end();
    const std::vector<FakeCuptiCall> calls = cupti.calls();
    EXPECT_EQ(std::count(calls.begin(), calls.end(), FakeCuptiCall::forced_flush), 0);
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_GT(ReadRecording(folder.recording()).header().end_ns, 0u);
}

TEST(CuptiCapture, activities_become_records) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer()
        .add(kernel(5, "_Z4stepPd"))
        .add(copy(6))
        .add(peer_copy(7))
        .add(memset_of(8))
        .add(synchronisation(9))
        .deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().features & (trace::feature::kernels | trace::feature::gpu_used),
            trace::feature::kernels | trace::feature::gpu_used);

  const auto kernels = recording.all<trace::DeviceActivity>(trace::RecordKind::kernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(recording.text(kernels[0].name), "_Z4stepPd");
  EXPECT_EQ(kernels[0].begin_ns, 1000u);
  EXPECT_EQ(kernels[0].end_ns, 2000u);
  EXPECT_EQ(kernels[0].stream, 17u);
  EXPECT_EQ(kernels[0].device, 3u);
  EXPECT_EQ(kernels[0].correlation, 5u);
  EXPECT_EQ(kernels[0].own, 0u);

  const auto copies = recording.all<trace::DeviceActivity>(trace::RecordKind::device_copy);
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(copies[0].bytes, 4096u);
  EXPECT_EQ(copies[0].copy_kind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[0].stream, 18u);
  EXPECT_EQ(copies[1].bytes, 8192u);
  EXPECT_EQ(copies[1].copy_kind, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  EXPECT_EQ(copies[1].device, 1u);

  const auto sets = recording.all<trace::DeviceActivity>(trace::RecordKind::device_memset);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].bytes, 64u);

  const auto waits = recording.all<trace::CudaSynchronisation>(trace::RecordKind::cuda_synchronisation);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(recording.text(waits[0].what), "stream");
  EXPECT_EQ(waits[0].stream, 17u);
}

TEST(CuptiCapture, own_work_is_marked_in_whatever_order_and_buffer_the_records_come) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer().add(own(1)).add(kernel(1)).add(kernel(2)).add(kernel(3)).add(own(3)).deliver(cupti);
    ActivityBuffer().add(kernel(4)).add(copy(5)).add(copy(5)).add(synchronisation(6)).deliver(cupti);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // likely read before the next one comes
    ActivityBuffer().add(own(5)).add(own(6)).add(own(9)).deliver(cupti);
    ActivityBuffer()
        .add(memset_of(9))
        .add(own(10, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0))
        .add(kernel(10))
        .deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<std::pair<std::uint32_t, int>> kernels;
  for (const auto& k : recording.all<trace::DeviceActivity>(trace::RecordKind::kernel)) {
    kernels.emplace_back(k.correlation, k.own);
  }
  EXPECT_EQ(kernels, (std::vector<std::pair<std::uint32_t, int>>{{1, 1}, {2, 0}, {3, 1}, {4, 0}, {10, 0}}));
  for (const auto& c : recording.all<trace::DeviceActivity>(trace::RecordKind::device_copy))
    EXPECT_EQ(c.own, 1);
  EXPECT_EQ(recording.all<trace::DeviceActivity>(trace::RecordKind::device_memset).at(0).own, 1);
  EXPECT_EQ(recording.all<trace::CudaSynchronisation>(trace::RecordKind::cuda_synchronisation).at(0).own, 1);
}

TEST(CuptiCapture, GPU_work_bears_who_issued_it_and_when_in_whatever_order_the_records_come) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer().add(runtime_call(1, 900, 4711)).add(kernel(1)).add(kernel(2)).deliver(cupti);
    ActivityBuffer().add(kernel(3)).add(synchronisation(4)).deliver(cupti);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // likely read before the next one comes
    ActivityBuffer().add(driver_call(2, 910, 4712)).add(driver_call(4, 900, 4711)).deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<std::array<std::uint64_t, 3>> issues;
  for (const auto& k : recording.all<trace::DeviceActivity>(trace::RecordKind::kernel)) {
    issues.push_back({k.correlation, k.thread_id, k.issued_ns});
  }
  EXPECT_EQ(issues, (std::vector<std::array<std::uint64_t, 3>>{{1, 4711, 900}, {2, 4712, 910}, {3, 0, 0}}));
}

TEST(CuptiCapture, a_CUPTI_that_numbers_threads_its_own_way_tells_no_thread) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake(FakeCuptiBehaviour::knows_no_threads);
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer().add(driver_call(1, 900, 4711)).add(kernel(1)).deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const auto kernels =
      ReadRecording(folder.recording()).all<trace::DeviceActivity>(trace::RecordKind::kernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].thread_id, 0u);
}

TEST(CuptiCapture, queries_which_CUPTI_reports_as_synchronisations_are_left_out) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer()
        .add(synchronisation(1, 1200))
        .add(synchronisation(2))
        .add(synchronisation(3, 1200))
        .deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  const auto waits = recording.all<trace::CudaSynchronisation>(trace::RecordKind::cuda_synchronisation);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].correlation, 2u);
  EXPECT_EQ(recording.header().dropped_gpu_records, 0u);
}

TEST(CuptiCapture, that_a_stream_waits_for_an_event_is_recorded_however_short_the_call_was) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    CUpti_ActivitySynchronization2 waits = synchronisation(4, 1200);
    waits.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    ActivityBuffer().add(waits).deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  const auto waits = recording.all<trace::CudaSynchronisation>(trace::RecordKind::cuda_synchronisation);
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_EQ(waits[0].correlation, 4u);
  EXPECT_EQ(waits[0].stream, 17u);
}

TEST(CuptiCapture, incomplete_and_dropped_records_are_counted_and_left_out) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    FakeCuptiControl& cupti = load_fake();
    cupti.dropped = 40;
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer().add(kernel(1)).add(kernel(2, "unfinished", 0)).add(synchronisation(3, 0)).deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.all<trace::DeviceActivity>(trace::RecordKind::kernel).size(), 1u);
  EXPECT_EQ(recording.header().dropped_gpu_records, 42u);
  EXPECT_EQ(recording.header().dropped_records, 0u);
}

TEST(CuptiCapture, the_clock_is_registered_before_any_kind_and_the_last_flush_is_forced) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ASSERT_NE(cupti.timestamp, nullptr);
    const std::uint64_t before_ns = record::now_ns();
    const std::uint64_t stamp_ns = cupti.timestamp();
    EXPECT_GE(stamp_ns, before_ns);
    EXPECT_LE(stamp_ns, record::now_ns());
    EXPECT_FALSE(cupti.enabled_kinds.empty());
    EXPECT_EQ(std::count(cupti.enabled_kinds.begin(), cupti.enabled_kinds.end(), CUPTI_ACTIVITY_KIND_DRIVER),
              1)
        << "without it CUPTI makes no external-correlation records";
    constexpr std::uint32_t event_query = 120;  // CUPTI_DRIVER_TRACE_CBID_cuEventQuery
    constexpr std::uint32_t copy = 306;         // CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync
    const auto is_off = [&](std::uint32_t call) { return cupti.disabled_driver_calls.contains(call); };
    EXPECT_TRUE(is_off(event_query)) << "every event query would be traced";
    EXPECT_FALSE(is_off(copy));
    EXPECT_EQ(std::count(cupti.enabled_kinds.begin(), cupti.enabled_kinds.end(), CUPTI_ACTIVITY_KIND_RUNTIME),
              1)
        << "without it nobody knows which thread launched a kernel by the runtime of CUDA 13";
    constexpr std::uint32_t runtime_event_query = 138;  // CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery
    constexpr std::uint32_t runtime_launch = 211;       // CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel
    EXPECT_TRUE(cupti.disabled_runtime_calls.contains(runtime_event_query));
    EXPECT_FALSE(cupti.disabled_runtime_calls.contains(runtime_launch));
    record::end();
    const auto calls = cupti.calls();
    const auto at = [&](FakeCuptiCall call) { return std::find(calls.begin(), calls.end(), call); };
    EXPECT_LT(at(FakeCuptiCall::register_timestamp_callback), at(FakeCuptiCall::enable_kind));
    EXPECT_LT(at(FakeCuptiCall::register_callbacks), at(FakeCuptiCall::enable_kind));
    EXPECT_NE(at(FakeCuptiCall::forced_flush), calls.end());
    EXPECT_TRUE(cupti.enabled_kinds.empty());
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(CuptiCapture, activities_are_read_while_the_job_runs_so_that_a_killed_one_has_them) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    // Fewer buffers than CUPTI may hold at a time, so that a collector without a core to run on loses none.
    static_assert(record::ActivityBuffers::most_buffers > 40);
    for (std::uint32_t i = 0; i < 40; ++i) {
      ActivityBuffer buffer;
      for (std::uint32_t j = 1; j <= 5; ++j) buffer.add(kernel(5 * i + j));
      buffer.deliver(cupti);
    }
    const auto is_read = [&] {
      return ReadRecording(folder.recording()).all<trace::DeviceActivity>(trace::RecordKind::kernel).size() ==
             200;
    };
    while (!is_read()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    raise(SIGKILL);
  });
  EXPECT_EQ(result.signal, SIGKILL) << result.errors;
}

TEST(CuptiCapture, a_program_that_exits_without_MPI_Finalize_keeps_its_activities) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer().add(kernel(1)).deliver(cupti);
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.all<trace::DeviceActivity>(trace::RecordKind::kernel).size(), 1u);
  EXPECT_EQ(recording.header().end_ns, 0u);
}

TEST(CuptiCapture, own_work_pushes_once_however_deep_it_nests) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    {
      const test::OwnWork before_begin;
      ASSERT_TRUE(record::begin(with_gpu(folder)));
      record::gpu_seen();
    }
    const auto count = [&](FakeCuptiCall call) {
      const auto calls = cupti.calls();
      return std::count(calls.begin(), calls.end(), call);
    };
    EXPECT_EQ(count(FakeCuptiCall::pop), 0) << "nothing was pushed";
    {
      const test::OwnWork outer;
      const test::OwnWork inner;
      EXPECT_EQ(count(FakeCuptiCall::push), 1);
    }
    EXPECT_EQ(count(FakeCuptiCall::pop), 1);
    const test::OwnWork again;
    EXPECT_EQ(count(FakeCuptiCall::push), 2);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(CuptiCapture, the_gpu_clock_is_bounded_by_calls_before_and_synchronisations_after) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer()
        .add(driver_call(5, 700))
        .add(kernel(5))                 // 1000 to 2000: at most 300 late
        .add(synchronisation(6, 2100))  // at most 100 early
        .deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(ReadRecording(folder.recording()).header().clock_error_ns, record::gpu_is_simulated ? 0 : 300u);
}

TEST(CuptiCapture, without_anything_to_compare_with_the_clock_error_is_unknown) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    ActivityBuffer().add(kernel(5)).deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(ReadRecording(folder.recording()).header().clock_error_ns,
            record::gpu_is_simulated ? 0 : trace::clock_error_unknown);
}

struct Refusal {
  std::string name;
  FakeCuptiBehaviour behaviour;
  std::string library;
  std::string says;
};

class CuptiRefusal : public testing::TestWithParam<Refusal> {};

TEST_P(CuptiRefusal, is_said_on_one_line_and_the_rest_is_recorded) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    load_fake(GetParam().behaviour);
    setenv("PENSTOCK_CUPTI", GetParam().library.c_str(), 1);
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    record::gpu_seen();
    const test::OwnWork own_work;
    trace::MpiCall call{};
    call.kind = trace::RecordKind::mpi_call;
    record::write(call);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(test::count_of("\n", result.errors), 1u) << result.errors;
  EXPECT_NE(result.errors.find("penstock: GPU activity is not recorded: "), std::string::npos)
      << result.errors;
  EXPECT_NE(result.errors.find(GetParam().says), std::string::npos) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().features & trace::feature::kernels, 0u);
  EXPECT_NE(recording.header().features & trace::feature::gpu_used, 0u);
  EXPECT_NE(std::string(recording.header().features_note).find(GetParam().says), std::string::npos);
  EXPECT_EQ(recording.all<trace::MpiCall>(trace::RecordKind::mpi_call).size(), 1u);
  EXPECT_EQ(recording.all<trace::Notice>(trace::RecordKind::notice).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, CuptiRefusal,
                         testing::Values(Refusal{"another_subscriber", FakeCuptiBehaviour::already_subscribed,
                                                 fake_cupti(), "another tool"},
                                         Refusal{"an_unknown_version", FakeCuptiBehaviour::unknown_version,
                                                 fake_cupti(), "version 140000"},
                                         Refusal{"no_traced_calls", FakeCuptiBehaviour::traces_no_calls,
                                                 fake_cupti(), "could not be separated"},
                                         Refusal{"a_missing_library", FakeCuptiBehaviour::normal,
                                                 "/nowhere/libcupti.so", "/nowhere"}),
                         [](const auto& param) { return param.param.name; });

TEST(CuptiCapture, is_not_touched_when_it_is_not_wanted_or_no_GPU_is_used) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(folder.identity()));
    record::gpu_seen();
    const test::OwnWork own_work;
    record::end();
    EXPECT_TRUE(cupti.calls().empty());
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
}

TEST(CuptiCapture, a_forked_child_leaves_CUPTI_alone) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    const FakeCuptiControl& cupti = load_fake();
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    record::gpu_seen();
    const pid_t child = fork();
    if (child == 0) {
      const std::size_t calls = cupti.calls().size();
      { const test::OwnWork own_work; }
      record::end();
      _exit(cupti.calls().size() == calls ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    ActivityBuffer().add(kernel(1)).deliver(cupti);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(ReadRecording(folder.recording()).all<trace::DeviceActivity>(trace::RecordKind::kernel).size(),
            1u);
}

}  // namespace
}  // namespace penstock
