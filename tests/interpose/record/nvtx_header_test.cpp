// The same with NVIDIA's own header: it finds the library by NVTX_INJECTION64_PATH, as in a user's program.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

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

/// As NCCL does it: its payload stands in the attributes of the push, or comes with the pop.
TEST(NvtxHeader, payloads_of_NCCL_with_NVIDIAs_header_are_recorded) {
  struct Payload {
    std::uint64_t communicator;
    std::size_t bytes;
  };
  struct Init {
    std::uint64_t communicator;
    int ranks;
    int rank;
  };
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    setenv("NVTX_INJECTION64_PATH", injection_library().c_str(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
    const auto register_schema = [&](const nvtxPayloadSchemaEntry_t* entries, std::size_t count,
                                     std::size_t size, std::uint64_t id) {
      nvtxPayloadSchemaAttr_t schema{};
      schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
      schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
      schema.entries = entries;
      schema.numEntries = count;
      schema.payloadStaticSize = size;
      schema.schemaId = id;
      EXPECT_EQ(nvtxPayloadSchemaRegister(domain, &schema), id);
    };
    constexpr std::uint64_t id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 4;
    constexpr nvtxPayloadSchemaEntry_t entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", nullptr, 0, 8, nullptr, nullptr}};
    register_schema(entries, 2, sizeof(Payload), id);
    constexpr nvtxPayloadSchemaEntry_t init_entries[] = {
        {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "No. of ranks", nullptr, 0, 8, nullptr, nullptr},
        {0, NVTX_PAYLOAD_ENTRY_TYPE_INT, "Rank", nullptr, 0, 12, nullptr, nullptr}};
    register_schema(init_entries, 3, sizeof(Init), NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);

    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "ncclCommInitRank");
    nvtxDomainRangePushEx(domain, &attributes);
    const Init init{7, 4, 2};
    const nvtxPayloadData_t of_init{NVTX_PAYLOAD_SCHEMA_ID_STATIC_START, sizeof init, &init};
    EXPECT_EQ(nvtxRangePopPayload(domain, &of_init, 1), 0);

    const Payload payload{7, 4096};
    const nvtxPayloadData_t of_call{id, sizeof payload, &payload};
    attributes.message.registered = nvtxDomainRegisterStringA(domain, "ncclAllGather");
    attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    attributes.reserved0 = 1;
    attributes.payload.ullValue = reinterpret_cast<std::uintptr_t>(&of_call);
    nvtxDomainRangePushEx(domain, &attributes);
    EXPECT_EQ(nvtxDomainRangePop(domain), 0);
    EXPECT_EQ(nvtxDomainIsEnabled(domain), 1);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<trace::NcclCall> calls = recording.all<trace::NcclCall>(trace::RecordKind::nccl_call);
  ASSERT_EQ(calls.size(), 2u);
  if (calls[0].ranks == 0) std::swap(calls[0], calls[1]);
  EXPECT_EQ(recording.text(calls[0].function), "ncclCommInitRank");
  EXPECT_EQ(calls[0].communicator, 7u);
  EXPECT_EQ(calls[0].ranks, 4);
  EXPECT_EQ(calls[0].rank, 2);
  EXPECT_EQ(recording.text(calls[1].function), "ncclAllGather");
  EXPECT_EQ(calls[1].communicator, 7u);
  EXPECT_EQ(calls[1].bytes, 4096u);
  EXPECT_EQ(calls[1].knows_bytes, 1);
}

/// NCCL refuses a call without a communicator, but only after it has told NVTX of it, so no GPU is needed.
TEST(NvtxHeader, what_the_NCCL_of_this_machine_tells_of_a_call_is_recorded) {
  using AllReduce = int(const void*, void*, std::size_t, int, int, void*, void*);
  using Group = int();
  constexpr int float32 = 7;
  constexpr int no_nccl = 77;
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    setenv("NVTX_INJECTION64_PATH", injection_library().c_str(), 1);
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::exit(no_nccl);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    reinterpret_cast<Group*>(dlsym(library, "ncclGroupStart"))();
    reinterpret_cast<AllReduce*>(dlsym(library, "ncclAllReduce"))(nullptr, nullptr, 1024, float32, 0, nullptr,
                                                                  nullptr);
    reinterpret_cast<Group*>(dlsym(library, "ncclGroupEnd"))();
    record::end();
  });
  if (result.exit_code == no_nccl) GTEST_SKIP() << "no NCCL";
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<std::string> calls;
  for (const auto& call : recording.all<trace::NcclCall>(trace::RecordKind::nccl_call)) {
    calls.push_back(recording.text(call.function) +
                    (call.knows_bytes != 0 ? " " + std::to_string(call.bytes) : ""));
  }
  EXPECT_EQ(calls, (std::vector<std::string>{"ncclGroupStart", "ncclAllReduce 4096", "ncclGroupEnd"}));
}

}  // namespace
}  // namespace penstock
