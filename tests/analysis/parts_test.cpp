// Where the time goes, in recordings whose parts can be added up by hand. Times are ns.
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::report_on;
using testing::to_device;
using testing::to_host;
using testing::whole_report_on;
using trace::Direction;

using Parts = std::map<std::string, std::uint64_t>;

/// Returns the parts that are not zero, by name.
Parts named(const TimeByPart& times) {
  Parts parts;
  for (std::size_t i = 0; i < part_count; ++i) {
    if (times[i] != 0) {
      parts.emplace(identifier_of(static_cast<TimePart>(i)), times[i]);
    }
  }
  return parts;
}
Parts named(const std::optional<TimeByPart>& times) {
  return times ? named(*times) : Parts{{"not known", 0}};
}
Parts parts_of(const Report& report) {
  return named(report.parts);
}

TEST(PartsOfTime, each_moment_belongs_to_the_first_part_that_it_can_belong_to) {
  const Report report = whole_report_on({RecordingBuilder(0, 1)
                                             .runs(0, 1000)
                                             .kernel(0, 200)
                                             .call({.function = "MPI_Win_fence", .begin = 150, .end = 300})
                                             .kernel(280, 320, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
                                             .copy(310, 350, 4096, to_host)
                                             .cuda_synchronisation(100, 450)});
  EXPECT_EQ(parts_of(report), (Parts{{"kernels", 200},
                                     {"unattributed", 100},
                                     {"nccl", 20},
                                     {"other_copies", 30},
                                     {"cuda_synchronisation", 100},
                                     {"host_code", 550}}));
  EXPECT_EQ(named(report.ranks[0].parts), parts_of(report));
}

TEST(PartsOfTime, penstock_s_own_copies_and_synchronisation_are_no_parts) {
  trace::DeviceActivity copy{};
  copy.begin_ns = testing::origin_ns + 200;
  copy.end_ns = testing::origin_ns + 300;
  copy.own = 1;
  copy.kind = trace::RecordKind::device_copy;
  trace::CudaSynchronisation waits{};
  waits.begin_ns = testing::origin_ns + 300;
  waits.end_ns = testing::origin_ns + 400;
  waits.own = 1;
  waits.kind = trace::RecordKind::cuda_synchronisation;
  EXPECT_EQ(
      parts_of(whole_report_on({RecordingBuilder(0, 1).runs(0, 1000).kernel(0, 100).raw(copy).raw(waits)})),
      (Parts{{"kernels", 100}, {"host_code", 900}}));
}

/// From the call that launches it on, unless the GPU does something else or the host is in MPI.
TEST(PartsOfTime, a_kernel_s_launch_lasts_until_it_begins) {
  const Report report = whole_report_on({RecordingBuilder(0, 1)
                                             .runs(0, 1000)
                                             .launched_kernel(100, 150, 200, "first")
                                             .launched_kernel(120, 210, 300, "queued")
                                             .call({.function = "MPI_Win_fence", .begin = 400, .end = 430})
                                             .launched_kernel(390, 460, 500, "behind_a_call")
                                             .copy(610, 620, 4096, to_host)
                                             .launched_kernel(600, 650, 700, "behind_a_copy")
                                             .kernel(800, 850, "launched_nobody_knows_when")
                                             .cuda_synchronisation(640, 720)});
  EXPECT_EQ(parts_of(report), (Parts{{"kernels", 280},
                                     {"unattributed", 30},
                                     {"other_copies", 10},
                                     {"kernel_launch", 50 + 10 + 40 + 40},
                                     {"cuda_synchronisation", 20},
                                     {"host_code", 520}}));
}

TEST(PartsOfTime, what_lies_outside_the_run_is_no_part) {
  const Report report = whole_report_on({RecordingBuilder(0, 1)
                                             .runs(500, 1000)
                                             .kernel(400, 600)
                                             .copy(300, 510, 4096, to_host)
                                             .copy(900, 1100, 4096, to_host)
                                             .cuda_synchronisation(0, 700)
                                             .cuda_synchronisation(990, 2000)});
  EXPECT_EQ(
      parts_of(report),
      (Parts{{"kernels", 100}, {"other_copies", 100}, {"cuda_synchronisation", 100}, {"host_code", 200}}));
}

/// Sends host memory that it copies from the GPU before, `steps` times; each step is 1,000.
RecordingBuilder sends_a_copy(std::uint64_t steps) {
  RecordingBuilder rank(0, 2);
  rank.runs(0, steps * 1000);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t begin = step * 1000;
    rank.range("step", begin, begin + 1000)
        .kernel(begin, begin + 200)
        .copy(begin + 200, begin + 500, 4096, to_host)
        .call({.function = "MPI_Send", .begin = begin + 500, .end = begin + 600, .bytes = 4096})
        .half({.direction = Direction::send,
               .peer = 1,
               .post = begin + 500,
               .complete = begin + 600,
               .bytes = 4096})
        .copy(begin + 650, begin + 700, 512, to_device);
  }
  return rank;
}

TEST(PartsOfTime, tell_staging_by_hand_from_other_copies) {
  EXPECT_EQ(parts_of(whole_report_on({sends_a_copy(4)})), (Parts{{"kernels", 800},
                                                                 {"staging_by_hand", 1200},
                                                                 {"unattributed", 400},
                                                                 {"other_copies", 200},
                                                                 {"host_code", 1400}}));
  // a single copy of a message's size may be chance
  EXPECT_EQ(parts_of(whole_report_on({sends_a_copy(1)})),
            (Parts{{"kernels", 200}, {"unattributed", 100}, {"other_copies", 350}, {"host_code", 350}}));
}

TEST(PartsOfTime, of_each_step_sum_to_it) {
  const Report report = report_on({sends_a_copy(4).cuda_synchronisation(2600, 3100)}, {});
  ASSERT_TRUE(report.steps);
  ASSERT_EQ(report.steps->each.size(), 4u);
  const Parts usual{{"kernels", 200},
                    {"staging_by_hand", 300},
                    {"unattributed", 100},
                    {"other_copies", 50},
                    {"host_code", 350}};
  const Parts synchronised{{"kernels", 200},
                           {"staging_by_hand", 300},
                           {"unattributed", 100},
                           {"other_copies", 50},
                           {"cuda_synchronisation", 350}};
  EXPECT_EQ(named(report.steps->each[0].parts), usual);
  EXPECT_EQ(named(report.steps->each[2].parts), synchronised);
  EXPECT_EQ(named(report.steps->each[3].parts), usual);
  EXPECT_EQ(named(report.ranks[0].parts), parts_of(report));
}

TEST(PartsOfTime, calls_of_mpi_s_files_are_told_apart_from_communication) {
  const Report report =
      whole_report_on({RecordingBuilder(0, 1)
                           .runs(0, 1000)
                           .kernel(0, 150)
                           .call({.function = "MPI_File_write", .begin = 100, .end = 300, .bytes = 64})
                           .call({.function = "MPI_File_seek", .begin = 300, .end = 350, .waits = 0})
                           .call({.function = "MPI_Win_fence", .begin = 350, .end = 400})});
  EXPECT_EQ(parts_of(report),
            (Parts{{"kernels", 150}, {"mpi_files", 200}, {"unattributed", 50}, {"host_code", 600}}));
  EXPECT_EQ(report.by_cause[static_cast<std::size_t>(Cause::unattributed)], 200u)
      << "causes stay as they are";
}

/// Some calls wait for no other rank: they write or read, all the same.
TEST(PartsOfTime, a_file_of_one_rank_alone_is_no_communication) {
  const Report report = whole_report_on(
      {RecordingBuilder(0, 1)
           .runs(0, 1000)
           .kernel(0, 150)
           .call({.function = "MPI_File_write_at", .begin = 100, .end = 300, .bytes = 64, .waits = 0})
           .call({.function = "MPI_Isend", .begin = 300, .end = 350, .bytes = 64, .waits = 0})});
  EXPECT_EQ(parts_of(report),
            (Parts{{"kernels", 150}, {"mpi_files", 150}, {"wire", 50}, {"host_code", 650}}));
}

TEST(PartsOfTime, of_one_rank_are_not_called_the_average_rank_s) {
  const std::vector<RecordingBuilder> ranks{RecordingBuilder(0, 2).runs(0, 1000).kernel(0, 150),
                                            RecordingBuilder(1, 2).runs(0, 1000).kernel(0, 250)};
  const auto words = [](const Report& report) { return headline_of(report).text; };
  const std::string average = words(whole_report_on(ranks));
  EXPECT_NE(average.find("1.000 µs on the average rank) is host code"), std::string::npos) << average;
  const std::string asked = words(report_on(ranks, {.only_rank = 1, .whole_run = true}));
  EXPECT_NE(asked.find("1.000 µs on rank 1) is host code"), std::string::npos) << asked;
  const std::string alone = words(whole_report_on({ranks[1]}));
  EXPECT_NE(alone.find("1.000 µs on rank 1) is host code"), std::string::npos) << alone;
}

TEST(PartsOfTime, headline_counts_no_files_as_exposed_communication) {
  const RecordingBuilder writes =
      RecordingBuilder(0, 1)
          .runs(0, 1000)
          .kernel(0, 150)
          .call({.function = "MPI_File_write", .begin = 200, .end = 750, .bytes = 64})
          .call({.function = "MPI_Win_fence", .begin = 750, .end = 800});
  const std::string files = headline_of(whole_report_on({writes})).text;
  EXPECT_NE(files.find("55.0 % of the run"), std::string::npos) << files;
  EXPECT_NE(files.find(" 5.0 % is exposed communication."), std::string::npos) << files;

  const RecordingBuilder fences =
      RecordingBuilder(0, 1)
          .runs(0, 1000)
          .kernel(0, 150)
          .call({.function = "MPI_File_write", .begin = 200, .end = 500, .bytes = 64})
          .call({.function = "MPI_Win_fence", .begin = 500, .end = 900});
  const Headline exposed = headline_of(whole_report_on({fences}));
  EXPECT_EQ(exposed.time_ns, 400u);
  EXPECT_TRUE(exposed.text.starts_with("40.0 % of the run")) << exposed.text;
  EXPECT_NE(exposed.text.find("100.0 % of it is MPI_Win_fence"), std::string::npos) << exposed.text;
}

TEST(PartsOfTime, rows_of_calls_on_files_say_so_instead_of_unattributed) {
  const std::string text =
      to_text(whole_report_on({RecordingBuilder(0, 1).runs(0, 1000).kernel(0, 150).call(
                  {.function = "MPI_File_write", .begin = 200, .end = 750, .bytes = 64})}),
              {});
  const std::size_t row = text.find("MPI_File_write", text.find("Where  "));
  ASSERT_NE(row, std::string::npos) << text;
  EXPECT_EQ(text.find("unattributed"), std::string::npos) << text;
  EXPECT_NE(text.substr(row, text.find('\n', row) - row).find("files (MPI_File)"), std::string::npos) << text;
}

TEST(PartsOfTime, are_known_of_a_program_without_a_gpu_and_unknown_where_kernels_were_not_recorded) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 1000).call({.function = "MPI_Win_fence", .begin = 100, .end = 300});
  rank.header().features = 0;
  EXPECT_EQ(parts_of(whole_report_on({rank})), (Parts{{"unattributed", 200}, {"host_code", 800}}));
  rank.header().features = trace::feature::gpu_used;
  EXPECT_EQ(parts_of(whole_report_on({rank})), (Parts{{"not known", 0}}));
}

TEST(HostCode, is_placed_between_the_calls_around_it) {
  const auto rank = [](std::int32_t which, std::uint64_t sleeps) {
    RecordingBuilder job(which, 2);
    job.kernel(0, 100);
    std::uint64_t now = 100;
    for (int step = 0; step < 4; ++step) {
      job.call({.function = "MPI_Allreduce", .begin = now, .end = now + 50, .bytes = 8, .call_site = 0x10})
          .call({.function = "MPI_Recv", .begin = now + 60, .end = now + 70, .bytes = 8, .call_site = 0x20});
      now += 70 + sleeps;
    }
    return job.runs(0, now);
  };
  const Report report = whole_report_on({rank(0, 30), rank(1, 90)});
  ASSERT_EQ(report.host_code.size(), 3u);
  EXPECT_EQ(where_text(report.host_code[0]), "between MPI_Recv at 0x20 and MPI_Allreduce at 0x10");
  EXPECT_EQ(report.host_code[0].times, 6u);
  EXPECT_EQ(report.host_code[0].time_ns, 3u * (30 + 90));
  EXPECT_EQ(report.host_code[0].most_ns, 3u * 90);
  EXPECT_EQ(report.host_code[0].most_rank, 1);
  EXPECT_EQ(where_text(report.host_code[1]), "after MPI_Recv at 0x20");
  EXPECT_EQ(report.host_code[1].time_ns, 30u + 90);
  EXPECT_EQ(where_text(report.host_code[2]), "between MPI_Allreduce at 0x10 and MPI_Recv at 0x20");
  EXPECT_EQ(report.host_code[2].time_ns, 2u * 4 * 10);
  std::uint64_t sum_ns = 0;
  for (const PlaceFigures& each : report.host_code) {
    sum_ns += each.time_ns;
  }
  EXPECT_EQ(sum_ns, time_of(report.parts.value(), TimePart::host_code));
}

TEST(HostCode, is_placed_in_the_innermost_range_but_not_in_the_one_that_marks_the_steps) {
  RecordingBuilder rank(0, 1);
  rank.runs(0, 4000);
  for (std::uint64_t begin = 0; begin < 4000; begin += 1000) {
    rank.range("step", begin, begin + 1000)
        .kernel(begin, begin + 100)
        .call({.function = "MPI_Barrier", .begin = begin + 100, .end = begin + 150, .call_site = 0x10})
        .range("assemble", begin + 200, begin + 800)
        .range("sort", begin + 300, begin + 400);
  }
  const Report report = report_on({rank}, {});
  ASSERT_EQ(report.host_code.size(), 4u);
  EXPECT_EQ(where_text(report.host_code[0]), "in the NVTX range assemble");
  EXPECT_EQ(report.host_code[0].time_ns, 4u * 500);
  EXPECT_EQ(where_text(report.host_code[1]), "between calls of MPI_Barrier at 0x10");
  EXPECT_EQ(report.host_code[1].time_ns, 3u * (50 + 200));
  EXPECT_EQ(where_text(report.host_code[2]), "in the NVTX range sort");
  EXPECT_EQ(report.host_code[2].time_ns, 4u * 100);
  EXPECT_EQ(where_text(report.host_code[3]), "after MPI_Barrier at 0x10");
}

TEST(HostCode, is_placed_exactly_in_ranges_that_do_not_nest) {
  // of two threads: one from 100 to 500, the other from 300 to 700
  const Report report = whole_report_on({RecordingBuilder(0, 1)
                                             .runs(0, 1000)
                                             .kernel(0, 100)
                                             .range("one", 100, 500)
                                             .on_lane(1)
                                             .range("other", 300, 700)});
  ASSERT_EQ(report.host_code.size(), 3u);
  EXPECT_EQ(where_text(report.host_code[0]), "in the NVTX range other");
  EXPECT_EQ(report.host_code[0].time_ns, 400u);
  EXPECT_EQ(where_text(report.host_code[1]), "outside MPI");
  EXPECT_EQ(report.host_code[1].time_ns, 300u);
  EXPECT_EQ(where_text(report.host_code[2]), "in the NVTX range one");
  EXPECT_EQ(report.host_code[2].time_ns, 200u);
}

TEST(Places, of_copies_and_of_waits_for_the_gpu_are_the_calls_around_them) {
  const auto rank = [](std::int32_t which, std::uint64_t copies_ns) {
    RecordingBuilder job(which, 2);
    job.kernel(0, 100);
    for (std::uint64_t begin = 100; begin < 4100; begin += 1000) {
      job.call({.function = "MPI_Recv", .begin = begin, .end = begin + 100, .bytes = 8, .call_site = 0x20})
          .copy(begin + 150, begin + 150 + copies_ns, 4096, to_host)
          .cuda_synchronisation(begin + 100, begin + 500)
          .call({.function = "MPI_Send",
                 .begin = begin + 900,
                 .end = begin + 1000,
                 .bytes = 8,
                 .call_site = 0x30});
    }
    return job.runs(0, 4100);
  };
  const Report report = whole_report_on({rank(0, 200), rank(1, 100)});
  const std::string where = "between MPI_Recv at 0x20 and MPI_Send at 0x30";
  ASSERT_EQ(report.other_copies.size(), 1u);
  EXPECT_EQ(where_text(report.other_copies[0]), where);
  EXPECT_EQ(report.other_copies[0].times, 8u);
  EXPECT_EQ(report.other_copies[0].time_ns, 4u * (200 + 100));
  EXPECT_EQ(report.other_copies[0].most_ns, 4u * 200);
  EXPECT_EQ(report.other_copies[0].most_rank, 0);
  ASSERT_EQ(report.cuda_synchronisation.size(), 1u);
  EXPECT_EQ(where_text(report.cuda_synchronisation[0]), where);
  EXPECT_EQ(report.cuda_synchronisation[0].time_ns, 4u * (200 + 300));
  EXPECT_EQ(report.cuda_synchronisation[0].most_rank, 1);
}

}  // namespace
}  // namespace penstock::analysis
