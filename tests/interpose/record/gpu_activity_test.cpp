// What a GPU program leaves in its recording, with the CUPTI of the build: NVIDIA's or the simulated one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "gpu_work.hpp"
#include "interpose/record/gpu/cuda_presence.hpp"
#include "interpose/record/recorder.hpp"
#include "own_work.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::GpuWork;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

constexpr int no_gpu = 77;

record::Identity with_gpu(const TemporaryFolder& folder) {
  record::Identity identity = folder.identity();
  identity.with_gpu_activity = true;
  return identity;
}

void use_the_gpu(int rounds) {
  GpuWork work;
  for (int round = 0; round < rounds; ++round) {
    work.kernel();
    work.set();
    work.copy_to_host();
    work.wait();
    const test::OwnWork own;  // as Penstock's: by driver calls, copies and fills
    work.driver_set();
    work.driver_copy_to_host();
    work.driver_wait();
  }
}

template <typename Record>
std::size_t count_own(const std::vector<Record>& records) {
  return static_cast<std::size_t>(
      std::count_if(records.begin(), records.end(), [](const Record& record) { return record.own != 0; }));
}

/// Half of the work that use_the_gpu() issued is marked as own.
template <typename Record>
void expect_half_is_own(const std::vector<Record>& records, std::size_t rounds,
                        const trace::FileHeader& header) {
  EXPECT_EQ(records.size(), 2 * rounds);
  EXPECT_EQ(count_own(records), rounds);
  for (const Record& record : records) {
    EXPECT_GE(record.begin_ns, header.begin_ns);
    EXPECT_GE(record.end_ns, record.begin_ns);
    EXPECT_LE(record.end_ns, header.end_ns);
  }
}

class GpuActivity : public testing::TestWithParam<bool> {};

TEST_P(GpuActivity, is_recorded_and_own_work_told_apart_whenever_CUDA_comes) {
  const bool cuda_comes_first = GetParam();
  constexpr std::size_t rounds = 20;
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    if (cuda_comes_first && !GpuWork::there_is_a_gpu()) std::exit(no_gpu);
    if (cuda_comes_first) GpuWork().wait();  // a context, too
    ASSERT_TRUE(record::begin(with_gpu(folder)));
    if (!GpuWork::there_is_a_gpu()) std::exit(no_gpu);
    record::gpu_seen();
    use_the_gpu(rounds);
    record::end();
  });
  if (result.exit_code == no_gpu) GTEST_SKIP() << "no GPU";
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.errors, "");

  const ReadRecording recording(folder.recording());
  const trace::FileHeader& header = recording.header();
  EXPECT_NE(header.features & trace::feature::kernels, 0u);
  EXPECT_NE(header.features & trace::feature::gpu_used, 0u);
  EXPECT_EQ((header.features & trace::feature::simulated) != 0, record::gpu_is_simulated);
  EXPECT_NE(header.device_name[0], '\0');
  EXPECT_EQ(header.dropped_gpu_records, 0u);
  EXPECT_NE(header.clock_error_ns, trace::clock_error_unknown);

  const auto kernels = recording.all<trace::DeviceActivity>(trace::RecordKind::kernel);
  EXPECT_EQ(kernels.size(), rounds);
  EXPECT_EQ(count_own(kernels), 0u);
  for (const auto& kernel : kernels) {
    EXPECT_NE(recording.text(kernel.name).find("count_up"), std::string::npos) << recording.text(kernel.name);
  }
  std::set<std::uint32_t> launching;
  for (const auto& kernel : kernels) {
    launching.insert(kernel.thread_id);
    EXPECT_GT(kernel.issued_ns, header.begin_ns);
    EXPECT_LE(kernel.issued_ns, kernel.end_ns);
  }
  EXPECT_EQ(launching, std::set{static_cast<std::uint32_t>(header.process_id)});

  const auto copies = recording.all<trace::DeviceActivity>(trace::RecordKind::device_copy);
  expect_half_is_own(copies, rounds, header);
  for (const auto& copy : copies) EXPECT_EQ(copy.bytes, GpuWork::bytes);
  const auto sets = recording.all<trace::DeviceActivity>(trace::RecordKind::device_memset);
  expect_half_is_own(sets, rounds, header);
  const auto waits = recording.all<trace::CudaSynchronisation>(trace::RecordKind::cuda_synchronisation);
  // those that found something to wait for
  EXPECT_GT(count_own(waits), 0u);
  EXPECT_LE(count_own(waits), rounds);
  EXPECT_GT(waits.size(), count_own(waits));
}

INSTANTIATE_TEST_SUITE_P(All, GpuActivity, testing::Bool(),
                         [](const auto& param) { return param.param ? "before_begin" : "after_begin"; });

TEST(GpuActivityOff, leaves_the_rest_recorded) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    if (!GpuWork::there_is_a_gpu()) std::exit(no_gpu);
    ASSERT_TRUE(record::begin(folder.identity()));
    use_the_gpu(1);
    record::end();
  });
  if (result.exit_code == no_gpu) GTEST_SKIP() << "no GPU";
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().features & trace::feature::kernels, 0u);
  EXPECT_NE(recording.header().features & trace::feature::gpu_used, 0u);
  EXPECT_TRUE(recording.all<trace::DeviceActivity>(trace::RecordKind::kernel).empty());
}

}  // namespace
}  // namespace penstock
