#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "analysis/export/export.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;

using Row = std::map<std::string, std::string>;

/// A reader of RFC 4180 that shares nothing with the writer.
std::vector<Row> read_csv(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  std::vector<std::vector<std::string>> lines(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = lines.back().back();
    if (quoted) {
      if (text[i] != '"') {
        cell += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      EXPECT_TRUE(cell.empty()) << "a quote in the middle of a cell";
      quoted = true;
    } else if (text[i] == ',') {
      lines.back().emplace_back();
    } else if (text[i] == '\n') {
      lines.push_back({""});
    } else {
      cell += text[i];
    }
  }
  EXPECT_FALSE(quoted) << "a quote never ends in " << file;
  EXPECT_EQ(lines.back(), std::vector<std::string>{""}) << "the last line of " << file << " has no end";
  lines.pop_back();
  std::vector<Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].size(), lines[0].size()) << file << ", line " << i + 1;
    Row row;
    for (std::size_t c = 0; c < std::min(lines[0].size(), lines[i].size()); ++c)
      row[lines[0][c]] = lines[i][c];
    rows.push_back(row);
  }
  return rows;
}

class CsvExport : public ::testing::Test {
 protected:
  void write(const RecordingBuilder& builder) const {
    std::filesystem::create_directories(directory_.path() / "recording");
    builder.write(directory_.path() / "recording");
  }
  void export_it() const {
    const auto nobody = [](std::size_t, std::size_t, const std::string&) {};
    (void)exports::export_recording(
        {directory_.path() / "recording", exports::Format::csv, directory_.path() / "tables", true}, nobody);
  }
  [[nodiscard]] std::vector<Row> table(const std::string& name) const {
    return read_csv(directory_.path() / "tables" / name);
  }

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(CsvExport, an_answer_of_a_gpus_driver_is_a_row) {
  write(RecordingBuilder(0, 1)
            .call({.function = "MPI_Barrier", .begin = 0, .end = 10})
            .gpu_sample(
                {.at = 100, .energy_mj = 77, .power_mw = 250'500, .throttle_reasons = 4, .sm_mhz = 1200})
            .gpu_sample({.at = 200, .power_mw = 0}));
  export_it();
  const std::vector<Row> rows = table("gpu_power.csv");
  ASSERT_EQ(rows.size(), 2u);
  const Row first{{"rank", "0"},       {"gpu", "0000:19:00.0"}, {"index", "0"},
                  {"begin_ns", "100"}, {"end_ns", "100"},       {"power_mw", "250500"},
                  {"energy_mj", "77"}, {"sm_mhz", "1200"},      {"most_sm_mhz", "1980"},
                  {"memory_mhz", ""},  {"temperature_c", "50"}, {"throttle_reasons", "4"}};
  EXPECT_EQ(rows[0], first);
  EXPECT_EQ(rows[1].at("power_mw"), "");
  EXPECT_EQ(rows[1].at("energy_mj"), "");
}

/// The world's rank has made two communicators, of itself and the next; the last one it calls `local_id`.
RecordingBuilder in_a_communicator(std::int32_t rank, std::uint32_t local_id) {
  RecordingBuilder builder(rank, 2);
  trace::Communicator communicator{};
  communicator.global_id = 99;
  communicator.local_id = local_id;
  communicator.name = trace::no_string;
  communicator.members = builder.text("0,1");
  communicator.kind = trace::RecordKind::communicator;
  builder.raw(communicator);
  std::uint64_t begin_ns = 100;
  for (const std::uint32_t of_call : {world_local_id, self_local_id, local_id, 77u}) {
    trace::MpiCall call{};
    call.begin_ns = testing::origin_ns + begin_ns;
    call.end_ns = call.begin_ns + 10;
    call.function = builder.text("MPI_Barrier");
    call.communicator = of_call;
    call.collective_ordinal = 1;
    call.repeats = 1;
    call.kind = trace::RecordKind::mpi_call;
    builder.raw(call);
    begin_ns += 100;
  }
  return builder.runs(0, 1000);
}

TEST_F(CsvExport, a_communicator_has_one_number_on_all_its_ranks) {
  write(in_a_communicator(0, 4));
  write(in_a_communicator(1, 3));
  export_it();
  const std::vector<Row> rows = table("mpi_calls.csv");
  ASSERT_EQ(rows.size(), 8u);
  for (std::size_t i = 0; i < 8; i += 4) {
    EXPECT_EQ(rows[i].at("communicator_number"), "0");
    EXPECT_EQ(rows[i + 1].at("communicator_number"), "") << "each rank has an MPI_COMM_SELF";
    EXPECT_EQ(rows[i + 2].at("communicator_number"), "2");
    EXPECT_EQ(rows[i + 3].at("communicator_number"), "") << "nobody has told its members";
  }
}

TEST_F(CsvExport, a_call_of_NCCL_is_a_row_and_its_kernel_says_who_issued_it_and_when) {
  write(RecordingBuilder(0, 1)
            .runs(0, 9000)
            .launches(4711, 0)
            .nccl_call({.function = "ncclReduce",
                        .begin = 100,
                        .end = 120,
                        .communicator = 0xc0ffee,
                        .bytes = 64,
                        .ordinal = 3,
                        .peer = 0})
            .nccl_call({.function = "ncclGroupEnd", .begin = 130, .end = 140, .communicator = 0})
            .launched_kernel(110, 150, 180, "ncclDevKernel_Reduce_Sum_f32_RING_LL")
            .launches(0, 0)
            .kernel(200, 210));
  export_it();
  const std::vector<Row> calls = table("nccl_calls.csv");
  ASSERT_EQ(calls.size(), 2u);
  const Row first{{"rank", "0"},
                  {"os_thread", "4711"},
                  {"begin_ns", "100"},
                  {"end_ns", "120"},
                  {"function", "ncclReduce"},
                  {"nccl_communicator", "0000000000c0ffee"},
                  {"number", "3"},
                  {"bytes", "64"},
                  {"peer", "0"},
                  {"communicator_ranks", ""},
                  {"communicator_rank", ""}};
  EXPECT_EQ(calls[0], first);
  EXPECT_EQ(calls[1].at("nccl_communicator"), "");
  EXPECT_EQ(calls[1].at("bytes"), "");
  const std::vector<Row> kernels = table("gpu_activities.csv");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].at("os_thread"), "4711");
  EXPECT_EQ(kernels[0].at("issued_ns"), "110");
  EXPECT_EQ(kernels[1].at("os_thread"), "");
  EXPECT_EQ(kernels[1].at("issued_ns"), "");
}

TEST_F(CsvExport, a_call_is_a_row_with_times_since_the_first_rank_came_out_of_MPI_Init) {
  write(RecordingBuilder(0, 2)
            .runs(500, 9000)
            .call({.function = "MPI_Comm_rank", .begin = 400, .end = 410, .waits = 0})
            .call({.function = "MPI_Bcast",
                   .begin = 700,
                   .end = 900,
                   .bytes = 64,
                   .peer = 0,
                   .collective_ordinal = 1}));
  write(RecordingBuilder(1, 2).runs(600, 9000));
  export_it();
  const std::vector<Row> calls = table("mpi_calls.csv");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].at("begin_ns"), "-100");
  EXPECT_EQ(calls[1].at("function"), "MPI_Bcast");
  EXPECT_EQ(calls[1].at("begin_ns"), "200");
  EXPECT_EQ(calls[1].at("end_ns"), "400");
  EXPECT_EQ(calls[1].at("peer_rank"), "0");
  EXPECT_EQ(calls[1].at("tag"), "") << "absent is not zero";
  EXPECT_EQ(calls[1].at("collective_number"), "1");
  ASSERT_EQ(table("ranks.csv").size(), 2u);
  EXPECT_EQ(table("ranks.csv")[1].at("begin_ns"), "100");
  EXPECT_EQ(table("ranks.csv")[1].at("host"), "node01");
}

TEST_F(CsvExport, a_message_is_one_row_with_both_of_its_halves) {
  write(RecordingBuilder(0, 2)
            .runs(0, 9000)
            .half({.direction = trace::Direction::send, .peer = 1, .post = 100, .complete = 200, .bytes = 32})
            .half({.direction = trace::Direction::receive, .peer = 1, .post = 1, .complete = 2, .tag = 9}));
  write(RecordingBuilder(1, 2).runs(0, 9000).half(
      {.direction = trace::Direction::receive, .peer = 0, .post = 50, .complete = 210, .bytes = 32}));
  export_it();
  const std::vector<Row> messages = table("messages.csv");
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(messages[0].at("message"), "");
  EXPECT_EQ(messages[0].at("send_rank"), "0");
  EXPECT_EQ(messages[0].at("receive_rank"), "1");
  EXPECT_EQ(messages[0].at("send_post_ns"), "100");
  EXPECT_EQ(messages[0].at("send_complete_ns"), "200");
  EXPECT_EQ(messages[0].at("receive_post_ns"), "50");
  EXPECT_EQ(messages[0].at("receive_complete_ns"), "210");
  EXPECT_EQ(messages[0].at("transport"), "mpi");
  EXPECT_EQ(messages[1].at("message"), "") << "its sender is missing";
  EXPECT_EQ(messages[1].at("send_rank"), "1");
  EXPECT_EQ(messages[1].at("send_post_ns"), "");
  EXPECT_EQ(messages[1].at("receive_post_ns"), "1");
}

TEST_F(CsvExport, a_non_blocking_collective_is_a_row_from_its_call_to_its_completion) {
  write(RecordingBuilder(0, 2).runs(0, 9000).operation({.function = "MPI_Ibcast",
                                                        .post = 100,
                                                        .complete = 300,
                                                        .collective_ordinal = 4,
                                                        .bytes = 64,
                                                        .root = 1}));
  export_it();
  const std::vector<Row> operations = table("nonblocking_collectives.csv");
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_EQ(operations[0].at("function"), "MPI_Ibcast");
  EXPECT_EQ(operations[0].at("post_ns"), "100");
  EXPECT_EQ(operations[0].at("complete_ns"), "300");
  EXPECT_EQ(operations[0].at("collective_number"), "4");
  EXPECT_EQ(operations[0].at("start"), "");
  EXPECT_EQ(operations[0].at("root_rank"), "1");
  EXPECT_EQ(operations[0].at("bytes"), "64");
}

TEST_F(CsvExport, names_with_commas_quotes_and_ends_of_lines_come_back_whole) {
  const std::string name = "a \"wide, \"\" kernel\",\r\nin two lines";
  write(RecordingBuilder(0, 1).kernel(0, 10, name).range(name, 0, 10));
  export_it();
  ASSERT_EQ(table("gpu_activities.csv").size(), 1u);
  EXPECT_EQ(table("gpu_activities.csv")[0].at("name"), name);
  EXPECT_EQ(table("gpu_activities.csv")[0].at("kind"), "kernel");
  ASSERT_EQ(table("ranges.csv").size(), 1u);
  EXPECT_EQ(table("ranges.csv")[0].at("name"), name);
}

TEST_F(CsvExport, transfers_say_how_and_why) {
  write(RecordingBuilder(0, 1).transfer(
      {.begin = 10, .end = 20, .bytes = 8, .key = 77, .reason = "peer access, NVLink", .pack = 3}));
  export_it();
  const std::vector<Row> transfers = table("transfers.csv");
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers[0].at("transport"), "peer");
  EXPECT_EQ(transfers[0].at("reason"), "peer access, NVLink");
  EXPECT_EQ(transfers[0].at("pack_ns"), "3");
  EXPECT_EQ(transfers[0].at("key"), "77");
  EXPECT_EQ(transfers[0].at("wire_bytes"), "8");
}

TEST_F(CsvExport, a_list_that_went_as_a_bitmap_says_how_few_bytes_travelled) {
  write(RecordingBuilder(0, 1).transfer({.begin = 10, .end = 20, .bytes = 4096, .packed_words = 25}));
  export_it();
  const std::vector<Row> transfers = table("transfers.csv");
  ASSERT_EQ(transfers.size(), 1u);
  EXPECT_EQ(transfers[0].at("bytes"), "4096");
  EXPECT_EQ(transfers[0].at("wire_bytes"), "100");
}

}  // namespace
}  // namespace penstock::analysis
