// The same with NVIDIA's own header: it finds the library by NVTX_INJECTION64_PATH, as in a user's program.
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

std::string injection_library() {
  return test::built_library("libpenstock_record_injection.so");
}

record::Identity with_nvtx(const TemporaryFolder& folder) {
  record::Identity identity = folder.identity();
  identity.with_gpu_activity = true;
  return identity;
}

TEST(NvtxHeader, ranges_of_a_program_with_NVIDIAs_header_are_recorded) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    setenv("NVTX_INJECTION64_PATH", injection_library().c_str(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    EXPECT_EQ(nvtxRangePushA("sweep"), 0);
    EXPECT_EQ(nvtxRangePushW(L"halo"), 1);
    EXPECT_EQ(nvtxRangePop(), 1);
    EXPECT_EQ(nvtxRangePop(), 0);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
    EXPECT_EQ(nvtxDomainRangePushEx(domain, &attributes), 0);
    EXPECT_EQ(nvtxDomainRangePop(domain), 0);
    nvtxDomainRangeEnd(domain, nvtxDomainRangeStartEx(domain, &attributes));
    nvtxRangeEnd(nvtxRangeStartA("started"));
    nvtxMarkA("a mark is no range");
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<std::string> names;
  for (const auto& range : recording.all<trace::Range>(trace::RecordKind::range)) {
    names.push_back(recording.text(range.domain) + ":" + recording.text(range.name) + ":" +
                    std::to_string(range.depth));
  }
  EXPECT_EQ(names, (std::vector<std::string>{":halo:1", ":sweep:0", "solver:registered:0",
                                             "solver:registered:255", ":started:255"}));
  EXPECT_NE(recording.header().features & trace::feature::ranges, 0u);
}

TEST(NvtxHeader, a_program_without_ranges_has_the_feature_when_the_environment_names_us) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    setenv("NVTX_INJECTION64_PATH", injection_library().c_str(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_NE(ReadRecording(folder.recording()).header().features & trace::feature::ranges, 0u)
      << "measured, and there were none";
}

TEST(NvtxHeader, a_program_under_another_tool_does_not_have_the_feature) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    setenv("NVTX_INJECTION64_PATH", "/nowhere/another_tool.so", 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    nvtxRangePushA("theirs");
    nvtxRangePop();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(recording.header().features & trace::feature::ranges, 0u);
  EXPECT_TRUE(recording.all<trace::Range>(trace::RecordKind::range).empty());
}

}  // namespace
}  // namespace penstock
