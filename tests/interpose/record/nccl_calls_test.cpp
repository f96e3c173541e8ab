// What NCCL tells of its calls by NVTX, as NCCL 2.19 to 2.29 do it, and what no NCCL does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "child_process.hpp"
#include "fake_program.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/record/run/nccl_payload.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

namespace nvtx = record::nvtx;
using record::NcclPayload;
using record::NcclSchemas;
using test::FakeProgram;
using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

constexpr std::uint64_t id_of_reduce = nvtx::first_static_schema + 8;
constexpr std::uint64_t id_of_init = nvtx::first_static_schema;

/// ncclReduce's payload since NCCL 2.25.
struct Reduce {
  std::uint64_t communicator;
  std::size_t bytes;
  int root;
  int operation;
};
constexpr nvtx::PayloadSchemaEntry reduce_entries[] = {
    {0, nvtx::entry_uint64, "NCCL communicator ID", nullptr, 0, offsetof(Reduce, communicator), nullptr,
     nullptr},
    {0, nvtx::entry_size, "Message size [bytes]", nullptr, 0, offsetof(Reduce, bytes), nullptr, nullptr},
    {0, nvtx::entry_int, "Root", nullptr, 0, offsetof(Reduce, root), nullptr, nullptr},
    {0, nvtx::first_static_schema + 24, "Reduction operation", nullptr, 0, offsetof(Reduce, operation),
     nullptr, nullptr},
};

/// ncclCommInitRank's.
struct Init {
  std::uint64_t communicator;
  int ranks;
  int rank;
  int device;
};
constexpr nvtx::PayloadSchemaEntry init_entries[] = {
    {0, nvtx::entry_uint64, "NCCL communicator ID", nullptr, 0, 0, nullptr, nullptr},
    {0, nvtx::entry_int, "No. of ranks", nullptr, 0, offsetof(Init, ranks), nullptr, nullptr},
    {0, nvtx::entry_int, "Rank", nullptr, 0, offsetof(Init, rank), nullptr, nullptr},
    {0, nvtx::entry_int, "CUDA device", nullptr, 0, offsetof(Init, device), nullptr, nullptr},
};

template <std::size_t count>
nvtx::PayloadSchema schema_of(const nvtx::PayloadSchemaEntry (&entries)[count], std::uint64_t id,
                              std::size_t size) {
  return {nvtx::schema_has_entries | nvtx::schema_has_entry_count | nvtx::schema_has_static_size |
              nvtx::schema_has_id,
          nullptr,
          1,
          0,
          entries,
          count,
          size,
          0,
          id};
}

NcclPayload read_one(const NcclSchemas& schemas, std::uint64_t id, std::size_t size, const void* payload) {
  const nvtx::PayloadData data{id, size, payload};
  return schemas.read(&data, 1);
}

TEST(NcclPayload, is_read_by_the_names_of_its_fields) {
  NcclSchemas schemas;
  const nvtx::PayloadSchema schema = schema_of(reduce_entries, id_of_reduce, sizeof(Reduce));
  schemas.add(&schema);
  const Reduce reduce{0xfeed, 4096, 3, 0};
  const NcclPayload told = read_one(schemas, id_of_reduce, sizeof reduce, &reduce);
  EXPECT_EQ(told.communicator, 0xfeedu);
  EXPECT_EQ(told.bytes, 4096u);
  EXPECT_EQ(told.peer, 3);
  EXPECT_EQ(told.ranks, 0);
}

TEST(NcclPayload, before_2_25_has_no_communicator) {
  struct Message {
    std::size_t bytes;
    int peer;
  };
  constexpr nvtx::PayloadSchemaEntry entries[] = {
      {0, nvtx::entry_size, "Bytes", nullptr, 0, 0, nullptr, nullptr},
      {0, nvtx::entry_int, "Peer rank", nullptr, 0, offsetof(Message, peer), nullptr, nullptr},
  };
  NcclSchemas schemas;
  nvtx::PayloadSchema schema = schema_of(entries, nvtx::first_static_schema + 9, 0);
  schemas.add(&schema);
  const Message message{64, 1};
  const NcclPayload told = read_one(schemas, schema.id, sizeof message, &message);
  EXPECT_EQ(told.communicator, 0u);
  EXPECT_EQ(told.bytes, 64u);
  EXPECT_EQ(told.peer, 1);
}

TEST(NcclPayload, that_is_too_short_tells_what_it_reaches) {
  NcclSchemas schemas;
  const nvtx::PayloadSchema schema = schema_of(reduce_entries, id_of_reduce, sizeof(Reduce));
  schemas.add(&schema);
  const Reduce reduce{0xfeed, 4096, 3, 0};
  for (std::size_t size = 0; size <= sizeof reduce; ++size) {
    const std::vector<std::byte> exact(reinterpret_cast<const std::byte*>(&reduce),
                                       reinterpret_cast<const std::byte*>(&reduce) + size);
    const NcclPayload told =
        read_one(schemas, id_of_reduce, size, size == 0 ? &reduce : static_cast<const void*>(exact.data()));
    EXPECT_EQ(told.communicator, size >= 8 ? 0xfeedu : 0u);
    EXPECT_EQ(told.bytes.has_value(), size >= 16);
    EXPECT_EQ(told.peer, size >= 20 ? 3 : -1);
  }
  const NcclPayload of_schemas_size =
      read_one(schemas, id_of_reduce, std::numeric_limits<std::size_t>::max(), &reduce);
  EXPECT_EQ(of_schemas_size.peer, 3);
}

TEST(NcclPayload, of_an_unknown_schema_tells_nothing) {
  NcclSchemas schemas;
  const nvtx::PayloadSchema schema = schema_of(reduce_entries, id_of_reduce, sizeof(Reduce));
  schemas.add(&schema);
  const Reduce reduce{0xfeed, 4096, 3, 0};
  for (const std::uint64_t id :
       {std::uint64_t{0}, id_of_reduce - 1, id_of_reduce + 1, nvtx::first_static_schema + 64,
        nvtx::first_static_schema - 1, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    const NcclPayload told = read_one(schemas, id, sizeof reduce, &reduce);
    EXPECT_EQ(told.communicator, 0u) << id;
    EXPECT_FALSE(told.bytes) << id;
  }
  EXPECT_FALSE(read_one(schemas, id_of_reduce, sizeof reduce, nullptr).bytes);
  EXPECT_FALSE(schemas.read(nullptr, 1).bytes);
  EXPECT_FALSE(schemas.read(static_cast<const nvtx::EventAttributes*>(nullptr)).bytes);
}

TEST(NcclPayload, schemas_that_make_no_sense_tell_nothing) {
  const auto bytes_by = [](nvtx::PayloadSchemaEntry entry, auto change) {
    nvtx::PayloadSchemaEntry entries[] = {reduce_entries[0], entry};
    nvtx::PayloadSchema schema = schema_of(entries, id_of_reduce, sizeof(Reduce));
    change(schema);
    NcclSchemas schemas;
    schemas.add(&schema);
    schemas.add(nullptr);
    const Reduce reduce{0xfeed, 4096, 3, 0};
    return read_one(schemas, id_of_reduce, sizeof reduce, &reduce).bytes;
  };
  const auto as_it_is = [](nvtx::PayloadSchema&) {};
  const nvtx::PayloadSchemaEntry right = reduce_entries[1];
  EXPECT_EQ(bytes_by(right, as_it_is), 4096u);
  nvtx::PayloadSchemaEntry wrong = right;
  wrong.name = nullptr;
  EXPECT_FALSE(bytes_by(wrong, as_it_is));
  wrong = right;
  wrong.offset = 17;
  EXPECT_FALSE(bytes_by(wrong, as_it_is));
  wrong.offset = ~std::uint64_t{0} - 3;
  EXPECT_FALSE(bytes_by(wrong, as_it_is));
  wrong.offset = 0;  // alignment would tell it
  EXPECT_FALSE(bytes_by(wrong, as_it_is));
  wrong = right;
  wrong.type = nvtx::entry_int;
  EXPECT_FALSE(bytes_by(wrong, as_it_is));
  wrong = right;
  wrong.flags = 1u << 1;  // a pointer
  EXPECT_FALSE(bytes_by(wrong, as_it_is));
  EXPECT_FALSE(bytes_by(right, [](nvtx::PayloadSchema& schema) { schema.entries = nullptr; }));
  EXPECT_FALSE(bytes_by(right, [](nvtx::PayloadSchema& schema) { schema.fields = 0; }));
  EXPECT_FALSE(bytes_by(right, [](nvtx::PayloadSchema& schema) { schema.id = 1; }));
  EXPECT_FALSE(bytes_by(right, [](nvtx::PayloadSchema& schema) { schema.entry_count = 0; }));
}

/// NCCL's side: its domain, and a range around a call.
class FakeNccl {
 public:
  FakeNccl() : domain_(FakeProgram::domain("NCCL")) {
    const nvtx::PayloadSchema reduce = schema_of(reduce_entries, id_of_reduce, sizeof(Reduce));
    EXPECT_EQ(FakeProgram::register_schema(domain_, &reduce), id_of_reduce);
    const nvtx::PayloadSchema init = schema_of(init_entries, id_of_init, sizeof(Init));
    FakeProgram::register_schema(domain_, &init);
  }
  void begin(const char* function, const nvtx::PayloadData* data = nullptr) const {
    nvtx::EventAttributes attributes = FakeProgram::message(function);
    if (data != nullptr) {
      attributes.payload_type = nvtx::payload_extended;
      attributes.payloads = 1;
      attributes.payload = reinterpret_cast<std::uintptr_t>(data);
    }
    FakeProgram::push(domain_, attributes);
  }
  void end() const { FakeProgram::pop(domain_); }
  void reduce(std::uint64_t communicator, std::size_t bytes, int root) const {
    const Reduce payload{communicator, bytes, root, 0};
    const nvtx::PayloadData data{id_of_reduce, sizeof payload, &payload};
    begin("ncclReduce", &data);
    end();
  }
  void init(std::uint64_t communicator, int ranks, int rank) const {
    begin("ncclCommInitRank");
    const Init payload{communicator, ranks, rank, 0};
    const nvtx::PayloadData data{id_of_init, sizeof payload, &payload};
    FakeProgram::pop_payload(domain_, &data, 1);
  }

 private:
  void* domain_;
};

record::Identity with_nvtx(const TemporaryFolder& folder) {
  record::Identity identity = folder.identity();
  identity.with_gpu_activity = true;
  return identity;
}

std::vector<std::string> calls_in(const ReadRecording& recording) {
  std::vector<std::string> calls;
  for (const auto& call : recording.all<trace::NcclCall>(trace::RecordKind::nccl_call)) {
    EXPECT_LE(call.begin_ns, call.end_ns);
    EXPECT_NE(call.thread_id, 0u);
    std::string words = recording.text(call.function);
    if (call.communicator != 0) words += " of " + std::to_string(call.communicator);
    if (call.ordinal != 0) words += " #" + std::to_string(call.ordinal);
    if (call.knows_bytes != 0) words += ", " + std::to_string(call.bytes) + " bytes";
    if (call.peer >= 0) words += ", peer " + std::to_string(call.peer);
    if (call.ranks != 0) words += ", rank " + std::to_string(call.rank) + " of " + std::to_string(call.ranks);
    calls.push_back(words);
  }
  return calls;
}

TEST(NcclCalls, are_recorded_with_what_their_payload_tells_and_counted_by_communicator) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_EQ(FakeProgram::attach_payloads(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    const FakeNccl nccl;
    nccl.begin("ncclGroupStart");
    nccl.end();
    nccl.reduce(7, 4096, 0);
    nccl.reduce(7, 8, 1);
    nccl.reduce(9, 16, 0);
    nccl.reduce(0, 32, 0);  // NCCL had no communicator
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(
      calls_in(recording),
      (std::vector<std::string>{"ncclGroupStart", "ncclReduce of 7 #1, 4096 bytes, peer 0",
                                "ncclReduce of 7 #2, 8 bytes, peer 1", "ncclReduce of 9 #1, 16 bytes, peer 0",
                                "ncclReduce, 32 bytes, peer 0"}));
  EXPECT_NE(recording.header().features & trace::feature::nccl, 0u);
  EXPECT_EQ(recording.all<trace::Range>(trace::RecordKind::range).size(), 5u) << "they are ranges as well";
}

TEST(NcclCalls, that_make_a_communicator_tell_so_at_their_end_and_leave_no_range_open) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_EQ(FakeProgram::attach_payloads(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    const FakeNccl nccl;
    nccl.init(7, 4, 2);
    nccl.reduce(7, 8, 0);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<std::string> calls = calls_in(recording);
  std::sort(calls.begin(), calls.end());
  EXPECT_EQ(calls, (std::vector<std::string>{"ncclCommInitRank of 7, rank 2 of 4",
                                             "ncclReduce of 7 #1, 8 bytes, peer 0"}));
  for (const auto& range : recording.all<trace::Range>(trace::RecordKind::range)) {
    EXPECT_EQ(range.depth, 0);
    EXPECT_LT(range.end_ns, recording.header().end_ns);
  }
}

TEST(NcclCalls, of_a_NCCL_without_payloads_have_their_names) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    void* domain = FakeProgram::domain("NCCL");
    FakeProgram::push(domain, FakeProgram::message("ncclAllReduce"));
    FakeProgram::pop(domain);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(calls_in(ReadRecording(folder.recording())), (std::vector<std::string>{"ncclAllReduce"}));
}

TEST(NcclCalls, of_several_threads_nest_each_for_itself) {
  const TemporaryFolder folder;
  constexpr int threads = 4;
  constexpr int calls = 2000;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_EQ(FakeProgram::attach_payloads(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    const FakeNccl nccl;
    std::vector<std::jthread> all;
    for (int thread = 0; thread < threads; ++thread) {
      all.emplace_back([&nccl, thread] {
        for (int i = 0; i < calls; ++i) nccl.reduce(static_cast<std::uint64_t>(thread) + 1, 8, thread);
      });
    }
    all.clear();
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  std::vector<std::uint32_t> last(threads);
  for (const auto& call : recording.all<trace::NcclCall>(trace::RecordKind::nccl_call)) {
    ASSERT_EQ(call.communicator, static_cast<std::uint64_t>(call.peer) + 1);
    last[static_cast<std::size_t>(call.peer)] =
        std::max(last[static_cast<std::size_t>(call.peer)], call.ordinal);
  }
  EXPECT_EQ(last, std::vector<std::uint32_t>(threads, calls));
  EXPECT_EQ(recording.header().dropped_records, 0u);
}

TEST(NcclCalls, that_nest_too_deep_are_counted_as_dropped_and_the_outer_ones_stay_right) {
  const TemporaryFolder folder;
  const auto result = in_child([&] {
    ASSERT_EQ(FakeProgram::attach(), 1);
    ASSERT_TRUE(record::begin(with_nvtx(folder)));
    void* domain = FakeProgram::domain("NCCL");
    for (int i = 0; i < 20; ++i) FakeProgram::push(domain, FakeProgram::message(std::to_string(i).c_str()));
    for (int i = 0; i < 20; ++i) FakeProgram::pop(domain);
    FakeProgram::pop(domain);
    record::end();
  });
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const ReadRecording recording(folder.recording());
  EXPECT_EQ(calls_in(recording), (std::vector<std::string>{"7", "6", "5", "4", "3", "2", "1", "0"}));
  EXPECT_EQ(recording.header().dropped_records, 12u);
}

}  // namespace
}  // namespace penstock
