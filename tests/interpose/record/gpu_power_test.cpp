// Samples of power and clocks, from a fake libnvidia-ml, of the GPU of the build.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "fake_nvml.hpp"
#include "gpu_work.hpp"
#include "interpose/record/gpu/cuda_presence.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::FakeNvmlBehaviour;
using test::FakeNvmlControl;
using test::GpuWork;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

constexpr int no_gpu_here = 77;

FakeNvmlControl& load_fake_nvml() {
  const std::string path = test::built_library("libpenstock_fake_nvml.so");
  setenv("PENSTOCK_NVML", path.c_str(), 1);
  void* library = dlopen(path.c_str(), RTLD_NOW);
  void* control = library == nullptr ? nullptr : dlsym(library, "fake_nvml_control");
  if (control == nullptr) throw std::runtime_error(dlerror());
  return *static_cast<FakeNvmlControl*>(control);
}

void wait_until(const std::function<bool()>& is_so) {
  while (!is_so()) std::this_thread::yield();
}

/// Records `job` in a child, after `prepare`, with a context on the first GPU.
void record_power(const TemporaryFolder& folder, const std::function<void()>& prepare,
                  const std::function<void()>& job) {
  const auto result = in_child([&] {
    if (!GpuWork::there_is_a_gpu()) std::exit(no_gpu_here);
    prepare();
    record::Identity identity = folder.identity();
    identity.with_gpu_activity = true;
    ASSERT_TRUE(record::begin(identity));
    record::gpu_seen();
    GpuWork work;
    work.kernel();
    work.wait();
    job();
    record::end();
  });
  if (result.exit_code == no_gpu_here) GTEST_SKIP() << "no GPU";
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.errors, "");
}

std::vector<trace::GpuSample> samples_of(const ReadRecording& recording) {
  return recording.all<trace::GpuSample>(trace::RecordKind::gpu_sample);
}

/// Returns "name=value" of the facts about power.
std::vector<std::string> why_there_is_no_power(const ReadRecording& recording) {
  std::vector<std::string> why;
  for (const auto& each : recording.all<trace::Fact>(trace::RecordKind::fact)) {
    if (recording.text(each.name) == "no_gpu_power") why.push_back(recording.text(each.value));
  }
  return why;
}

TEST(GpuPower, of_a_GPU_in_use_is_recorded_while_the_program_runs_and_at_its_end) {
  const TemporaryFolder folder;
  FakeNvmlControl* nvml = nullptr;
  record_power(
      folder, [&] { nvml = &load_fake_nvml(); },
      [&] {
        wait_until([&] { return nvml->asked_for_power >= 3; });
        nvml->power_mw = 500'000;
        nvml->throttle_reasons = trace::throttle::heat;
      });
  if (IsSkipped()) return;
  const ReadRecording recording(folder.recording());
  const auto samples = samples_of(recording);
  ASSERT_GE(samples.size(), 3u);
  const trace::GpuSample& first = samples.front();
  EXPECT_EQ(first.power_mw, 300'000u);
  EXPECT_EQ(first.sm_mhz, 1200u);
  EXPECT_EQ(first.most_sm_mhz, 1980u);
  EXPECT_EQ(first.memory_mhz, 2619u);
  EXPECT_EQ(first.temperature_c, 61u);
  EXPECT_EQ(first.throttle_reasons, trace::throttle::power_cap);
  EXPECT_EQ(first.index, 5u);
  EXPECT_NE(recording.text(first.gpu).find(':'), std::string::npos) << recording.text(first.gpu);
  // the last one is of the end
  EXPECT_EQ(samples.back().power_mw, 500'000u);
  EXPECT_EQ(samples.back().throttle_reasons, trace::throttle::heat);
  for (const auto& each : samples) {
    EXPECT_GT(each.energy_mj, 0u);
    EXPECT_GE(each.end_ns, each.begin_ns);
    EXPECT_GE(each.begin_ns, recording.header().begin_ns);
  }
  EXPECT_EQ(why_there_is_no_power(recording), std::vector<std::string>());
}

TEST(GpuPower, without_an_energy_counter_has_the_rest) {
  const TemporaryFolder folder;
  FakeNvmlControl* nvml = nullptr;
  record_power(
      folder,
      [&] {
        nvml = &load_fake_nvml();
        nvml->behaviour = FakeNvmlBehaviour::has_no_energy_counter;
      },
      [&] { wait_until([&] { return nvml->asked_for_power >= 1; }); });
  if (IsSkipped()) return;
  const auto samples = samples_of(ReadRecording(folder.recording()));
  ASSERT_FALSE(samples.empty());
  EXPECT_EQ(samples.front().energy_mj, 0u);
  EXPECT_EQ(samples.front().power_mw, 300'000u);
}

TEST(GpuPower, that_cannot_be_had_is_a_fact_and_no_error) {
  const auto fact_of = [](const std::function<void()>& prepare) {
    const TemporaryFolder folder;
    record_power(folder, prepare, [] {});
    if (testing::Test::IsSkipped()) return std::vector<std::string>{};
    const ReadRecording recording(folder.recording());
    EXPECT_TRUE(samples_of(recording).empty());
    return why_there_is_no_power(recording);
  };
  const auto refused = fact_of([] { load_fake_nvml().behaviour = FakeNvmlBehaviour::refuses; });
  if (IsSkipped()) return;
  EXPECT_EQ(refused, std::vector<std::string>{"NVML refused: Driver Not Loaded"});
  const auto missing = fact_of([] { setenv("PENSTOCK_NVML", "/nowhere/libnvidia-ml.so.1", 1); });
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_TRUE(missing[0].starts_with("PENSTOCK_NVML: /nowhere/libnvidia-ml.so.1: ")) << missing[0];
  const auto unknown = fact_of([] { load_fake_nvml().behaviour = FakeNvmlBehaviour::knows_no_gpu; });
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_TRUE(unknown[0].starts_with("NVML does not tell of GPU ")) << unknown[0];
  EXPECT_TRUE(unknown[0].ends_with(": Not Found")) << unknown[0];
}

TEST(GpuPower, is_not_asked_for_where_it_is_not_wanted) {
  const TemporaryFolder folder;
  record_power(
      folder, [] { setenv("PENSTOCK_NVML", "none", 1); }, [] {});
  if (IsSkipped()) return;
  const ReadRecording recording(folder.recording());
  EXPECT_TRUE(samples_of(recording).empty());
  EXPECT_TRUE(why_there_is_no_power(recording).empty());
}

TEST(GpuPower, of_a_driver_that_never_answers_does_not_keep_the_job_from_ending) {
  const TemporaryFolder folder;
  FakeNvmlControl* nvml = nullptr;
  record_power(
      folder,
      [&] {
        nvml = &load_fake_nvml();
        nvml->behaviour = FakeNvmlBehaviour::never_answers;
      },
      [&] { wait_until([&] { return nvml->asked_for_power >= 1; }); });
  if (IsSkipped()) return;
  const ReadRecording recording(folder.recording());
  EXPECT_NE(recording.header().end_ns, 0u);
  EXPECT_FALSE(recording.all<trace::DeviceActivity>(trace::RecordKind::kernel).empty());
}

}  // namespace
}  // namespace penstock
