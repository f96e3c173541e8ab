#include "analysis/report/text/report_text.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "analysis/layout/text_table.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/text_figures.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// A report of a large job with something in every section, all names as long as they get.
Report large_report() {
  Report report;
  report.program =
      "./a_program_with_a_long_name --with-many options --that-fill 1 --the-line 2 --and-go-on 3 --and-on 4";
  report.mpi_version = "Open MPI v4.1.4, package: Debian OpenMPI";
  report.hosts = {"node01", "node02"};
  report.devices = {"NVIDIA H200"};
  report.world_size = 64;
  report.counted_ranks = 64;
  report.total_ns = 64 * 6'100'000'000ull;
  report.counted_ns = 64 * 1'420'000'000ull;
  report.by_cause = {64 * 800'000'000ull, 64 * 300'000'000ull, 64 * 100'000'000ull, 64 * 100'000'000ull,
                     64 * 50'000'000ull,  64 * 40'000'000ull,  64 * 20'000'000ull,  64 * 10'000'000ull};
  report.parts.emplace();
  const auto add_part = [&](TimePart part, std::uint64_t of_rank_ns) {
    (*report.parts)[static_cast<std::size_t>(part)] = 64 * of_rank_ns;
  };
  add_part(TimePart::kernels, 4'000'000'000);
  for (std::size_t i = 0; i < cause_count; ++i) {
    add_part(part_of(static_cast<Cause>(i)), report.by_cause[i] / 64);
  }
  add_part(TimePart::mpi_files, 80'000'000);
  add_part(TimePart::nccl, 100'000'000);
  add_part(TimePart::staging_by_hand, 100'000'000);
  add_part(TimePart::other_copies, 100'000'000);
  add_part(TimePart::cuda_synchronisation, 100'000'000);
  add_part(TimePart::host_code, 200'000'000);
  for (int i = 0; i < 12; ++i) {
    report.host_code.push_back(
        {"", "MPI_Neighbor_alltoallw at exchange_the_halos_of_the_whole_lattice (lattice_exchange.cpp:1200)",
         "MPI_Neighbor_alltoallw at exchange_the_halos_of_the_whole_lattice (lattice_exchange.cpp:1300)",
         1000, 64 * 16'000'000, 20'000'000, 63});
    CallSiteFigures site;
    site.function = "exchange_the_halos_of_the_whole_lattice_with_all_neighbours";
    site.file = "/home/someone/source/lattice_exchange_implementation.cpp";
    site.line = 1200 + i;
    site.module = "/home/someone/build/a_program_with_a_long_name";
    site.mpi_function = "MPI_Neighbor_alltoallw_init";
    site.calls = 123'456'789;
    site.counted_ns = report.counted_ns / 12;
    site.by_cause = report.by_cause;
    site.main_counterpart = 63;
    report.call_sites.push_back(site);
    CallPathFigures path{.mpi_function = site.mpi_function, .call_site = 0};
    for (int frame = 0; frame < 12; ++frame) {
      path.frames.push_back("a_function_with_a_long_name_that_calls_the_next_one (a_source_file_" +
                            std::to_string(i + frame) + ".cpp:1234)");
    }
    path.counted_ns = site.counted_ns;
    report.call_paths.push_back(path);
    report.phases.push_back({"phase " + std::to_string(i), report.total_ns / 12, report.counted_ns / 12});
    report.transports.push_back({trace::BufferKind::virtual_memory, trace::BufferKind::virtual_memory,
                                 256 << 20, trace::TransportKind::staged,
                                 "peer access between the two devices is switched off by the driver", 12'345,
                                 1ull << 40, 1ull << 40, 51.5});
    report.notices.emplace_back();
    report.notices.back().text =
        "a notice that is longer than a line of the terminal, so that it must be wrapped to two";
    report.notices.back().ranks = 64;
    report.flaws.push_back({"/home/someone/run/penstock-out/rank-12.penstock", 123456,
                            "cut off; what stands before it was used"});
  }
  for (std::int32_t i = 0; i < 64; ++i) {
    RankFigures rank;
    rank.rank = i;
    rank.finished = true;
    rank.is_counted = rank.kernels_known = true;
    rank.total_ns = 6'100'000'000;
    rank.kernels_ns = 4'000'000'000;
    rank.communication_ns = 2'000'000'000;
    rank.hidden_ns = 580'000'000;
    rank.parts = *report.parts;
    for (std::uint64_t& each : *rank.parts) {
      each /= 64;
    }
    rank.upper_bound_ns = rank.exposed_ns = rank.counted_ns = 1'420'000'000 + static_cast<std::uint64_t>(i);
    report.ranks.push_back(rank);
  }
  return report;
}

TEST(ReportText, speeds_have_at_least_two_digits_that_count) {
  EXPECT_EQ(speed_text(430.4), "430");
  EXPECT_EQ(speed_text(13.84), "13.8");
  EXPECT_EQ(speed_text(0.2), "0.20");
  EXPECT_EQ(speed_text(0.0034), "0.0034");
  EXPECT_EQ(speed_text(0.000000012), "0.00000001");
  EXPECT_EQ(speed_text(0), "0.00");
}

TEST(ReportText, is_never_wider_than_100_columns) {
  for (const std::string& line :
       lines_of(to_text(large_report(), {.colours = false, .top = 50, .all = true}))) {
    EXPECT_LE(width_of(line), 100u) << line;
  }
}

TEST(ReportText, takes_the_width_of_the_terminal) {
  const auto widest = [](std::size_t columns) {
    std::size_t most = 0;
    for (const std::string& line :
         lines_of(to_text(large_report(), {.top = 50, .all = true, .columns = columns}))) {
      most = std::max(most, width_of(line));
    }
    return most;
  };
  EXPECT_LE(widest(100), 100u);
  EXPECT_GT(widest(160), 140u);
  EXPECT_LE(widest(160), 160u);
  EXPECT_EQ(to_text(large_report(), {.columns = 60}).find("█"), std::string::npos) << "numbers need it all";
  for (const std::string& line : wrapped(headline_of(large_report()).text, 60)) {
    EXPECT_NE(to_text(large_report(), {.columns = 60}).find(line + "\n"), std::string::npos) << line;
  }
}

TEST(ReportText, columns_of_words_share_what_there_is) {
  Report report = large_report();
  report.latecomers.resize(1);
  report.latecomers[0].mpi_function = "MPI_Sendrecv";
  report.latecomers[0].at = "exchange (halo.cpp:53)";
  report.latecomers[0].late_ns = report.latecomers[0].in_host_code_ns = 1'000'000'000;
  report.latecomers[0].host_code =
      "between MPI_Waitall at exchange (halo.cpp:53) and MPI_Isend at transfer (exchanger.hpp:99)";
  const std::string text = to_text(report, {.all = true});
  EXPECT_NE(text.find("MPI_Sendrecv at exchange ("), std::string::npos) << text;
  EXPECT_NE(text.find("host code between M"), std::string::npos) << text;
}

TEST(ReportText, fits_one_screen) {
  Report report = large_report();
  const std::string long_text =
      "Twelve thousand messages device → device of ≤ 1 MiB went by staged: peer access between the two "
      "devices is switched "
      "off by the driver. Others of that size went by peer at 340 GB/s instead of 45.";
  report.advice.assign(8, {AdviceKind::better_transport, report.counted_ns / 12, long_text});
  report.steps = StepsFigures{};
  report.steps->mark = "an iteration with a long name";
  report.steps->each.resize(100'000);
  report.notices.resize(1);
  report.flaws.clear();
  EXPECT_LE(lines_of(to_text(report, {})).size(), 52u);
}

TEST(ReportText, opens_with_the_number) {
  const std::string text = to_text(large_report(), {});
  EXPECT_NE(
      text.find("\n23.3 % of the run (1.420 s of 6.100 s on the average rank) is exposed communication"),
      std::string::npos)
      << text;
}

/// Returns the report with one part so long that it is the largest, kernels left aside.
Report with_most(TimePart part) {
  Report report = large_report();
  (*report.parts)[static_cast<std::size_t>(TimePart::kernels)] -= 64 * 3'000'000'000ull;
  (*report.parts)[static_cast<std::size_t>(part)] += 64 * 3'000'000'000ull;
  report.hand_staging = {{"MPI_Send at exchange (halo.cpp:120)", 10, 4096, 5, 5}};
  return report;
}

TEST(ReportText, opens_with_the_largest_part_that_is_not_kernels) {
  const auto opening = [](TimePart part) {
    std::string text;
    for (const std::string& line : lines_of(to_text(with_most(part), {}))) {
      text += line + " ";
    }
    return text.substr(0, text.find("Where the time"));
  };
  const std::string host_code = opening(TimePart::host_code);
  EXPECT_NE(
      host_code.find("52.5 % of the run (3.200 s of 6.100 s on the average rank) is host code: no kernel "
                     "runs, and the host is outside MPI."),
      std::string::npos)
      << host_code;
  EXPECT_NE(host_code.find("between MPI_Neighbor_alltoallw at"), std::string::npos) << host_code;
  EXPECT_NE(host_code.find("most on rank 63"), std::string::npos) << host_code;
  EXPECT_NE(host_code.find("23.3 % is exposed communication."), std::string::npos) << host_code;
  EXPECT_NE(opening(TimePart::staging_by_hand).find("is staging by hand"), std::string::npos);
  EXPECT_NE(opening(TimePart::staging_by_hand).find("MPI_Send at exchange (halo.cpp:120)"),
            std::string::npos);
  EXPECT_NE(opening(TimePart::other_copies).find("is copies and memsets"), std::string::npos);
  EXPECT_NE(opening(TimePart::kernel_launch).find("is kernel launch"), std::string::npos);
  EXPECT_EQ(opening(TimePart::kernel_launch).find("share a GPU"), std::string::npos);
  Report shared = with_most(TimePart::kernel_launch);
  shared.placement = {{.rank = 0, .host = "node01", .gpus = {"aa"}},
                      {.rank = 1, .host = "node01", .gpus = {"aa"}}};
  EXPECT_NE(to_text(shared, {}).find("share a GPU"), std::string::npos);
  EXPECT_NE(opening(TimePart::cuda_synchronisation).find("is CUDA synchronisation"), std::string::npos);
  EXPECT_NE(opening(TimePart::nccl).find("is NCCL"), std::string::npos);
  EXPECT_NE(opening(TimePart::mpi_files).find("is files"), std::string::npos);
  EXPECT_NE(opening(TimePart::kernels).find("is exposed communication: the rank is in MPI"),
            std::string::npos);
}

TEST(ReportText, has_colours_only_when_asked) {
  EXPECT_EQ(to_text(large_report(), {.colours = false}).find('\033'), std::string::npos);
  EXPECT_NE(to_text(large_report(), {.colours = true}).find('\033'), std::string::npos);
}

TEST(ReportText, lets_no_recording_steer_the_terminal) {
  Report report = large_report();
  report.program = "evil\033[2J\r\n";
  report.notices = {{"evil\033[2J", 1, 0}};
  report.hosts = {"\033[2J"};
  report.call_sites[0].function = "\033[2J";
  report.call_sites[0].mpi_function = "\033[2J";
  EXPECT_EQ(to_text(report, {}).find('\033'), std::string::npos);
}

TEST(ReportText, tells_to_build_with_debug_information_unless_the_program_is_another_build_now) {
  Report report = large_report();
  report.call_sites[0].line = 0;
  report.call_sites[0].module = "/work/app";
  EXPECT_NE(to_text(report, {}).find("build the program with -g"), std::string::npos);
  report.rebuilt_modules = {"/work/app"};
  EXPECT_EQ(to_text(report, {}).find("build the program with -g"), std::string::npos);
}

TEST(ReportText, says_what_is_not_known_instead_of_showing_zero) {
  Report report = large_report();
  report.measure = Measure::communication_time;
  report.why_not_exposed = "GPU kernels of rank 0 were not recorded: libcupti was not found";
  report.parts.reset();
  report.ranks.resize(2);
  report.ranks[0].kernels_known = report.ranks[1].kernels_known = false;
  const std::string text = to_text(report, {});
  EXPECT_NE(text.find("is communication time. How much of it is"), std::string::npos) << text;
  EXPECT_NE(text.find("libcupti was not found"), std::string::npos);
  EXPECT_EQ(text.find("exposed communication"), std::string::npos) << text;
  EXPECT_NE(text.find("–"), std::string::npos);
}

TEST(ReportText, tables_shorten_the_column_that_gives_way) {
  TextTable table({{"Where", Align::left, true}, {"count", Align::right}});
  table.add_row({"a rather long place in the source", "12"});
  table.add_row({"short", "3"});
  EXPECT_EQ(table.lines(20), (std::vector<std::string>{"Where          count", "a rather lon…     12",
                                                       "short              3"}));
}

TEST(ReportText, wrapping_keeps_words_whole) {
  EXPECT_EQ(wrapped("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 7, 2), (std::vector<std::string>{"one two", "  three"}));
  EXPECT_EQ(wrapped("it took 12.5 ms, or 40 %: so", 12),
            (std::vector<std::string>{"it took", "12.5 ms, or", "40 %: so"}));
  EXPECT_EQ(wrapped("in 4 steps", 5), (std::vector<std::string>{"in 4", "steps"}));
  EXPECT_EQ(wrapped("", 7), (std::vector<std::string>{""}));
}

/// The whole page, as a person sees it: a late sender whose length is known.
TEST(ReportText, golden_page_of_two_ranks) {
  ::setenv("TZ", "UTC", 1);
  const TemporaryDirectory directory;
  constexpr std::uint64_t ms = 1'000'000;
  RecordingBuilder(0, 2)
      .runs(0, 1000 * ms)
      .kernel(0, 200 * ms)
      .half({.direction = trace::Direction::receive,
             .peer = 1,
             .post = 100 * ms,
             .complete = 350 * ms,
             .bytes = 1 << 20,
             .key = 1,
             .buffer = trace::BufferKind::device})
      .transfer({.begin = 310 * ms,
                 .end = 350 * ms,
                 .bytes = 1 << 20,
                 .key = 1,
                 .reason = "peer access over NVLink"})
      .call({.function = "MPI_Recv", .begin = 100 * ms, .end = 350 * ms, .bytes = 1 << 20, .call_site = 0x40})
      .range("exchange", 50 * ms, 400 * ms)
      .write(directory.path());
  RecordingBuilder(1, 2)
      .runs(0, 1000 * ms)
      .kernel(0, 300 * ms)
      .half({.direction = trace::Direction::send,
             .peer = 0,
             .post = 300 * ms,
             .complete = 350 * ms,
             .bytes = 1 << 20,
             .key = 1,
             .buffer = trace::BufferKind::device})
      .call({.function = "MPI_Send", .begin = 300 * ms, .end = 350 * ms, .bytes = 1 << 20, .call_site = 0x80})
      .write(directory.path());
  const std::string expected = R"(penstock · solver --steps 10
2 ranks on node01 · MPICH 4.0.2 · Test GPU · 2023-11-14 22:30

65.0 % of the run (0.650 s of 1.000 s on the average rank) is host code: no kernel runs, and the
host is outside MPI. 50.0 % of it is after MPI_Send at 0x80, most on rank 1. 10.0 % is exposed
communication. First advice: shorten host code (65.0 %).

Where the time goes    s/rank  of run   most  rank
kernels                 0.250  25.0 %  0.300     1  ███████▌
host code               0.650  65.0 %  0.650     0  ███████████████████▌
exposed communication   0.100  10.0 %  0.150     0  ███
  late sender           0.050   5.0 %  0.100     0  █▌
  wire                  0.050   5.0 %  0.050     0  █▌
late sender: the sending rank had not posted its message yet; wire: both sides were there, data was
moving
host code (all else): 50.0 % after MPI_Send at 0x80; 46.2 % after MPI_Recv at 0x40; 3.8 % in the
  NVTX range exchange

What would help, each alone, and how much (s/rank)
0.650 ± 0.013  Host code leaves the GPUs idle for 650 ms a rank, at 2 places. The largest, after
               MPI_Recv at 0x40: 325 ms a rank. Leave it out, move it to the GPU, or run it beside
               kernels.
0.016          Others wait for rank 1: 100 ms for it to send. Its kernels run 120.0 % of the mean.

What if                                                   s  instead of
free messages; ranks still wait for each other        0.950       1.000  -5.0 %
no messages; ranks wait only at collectives           0.950       1.000  -5.0 %
every message as fast as the fastest 5 % of its kind  1.000       1.000   0.0 %
every rank computes for the mean time of all          1.022       1.000  +2.2 %

Efficiency (POP)              Efficiency of the GPUs (TALP)
parallel efficiency  90.0 %   parallel efficiency            25.0 %
├─ load balance      94.7 %   ├─ load balance                83.3 %
└─ communication     95.0 %   ├─ communication               100.0 %
   ├─ serialisation  100.0 %  └─ orchestration               30.0 %
   └─ transfer       95.0 %

The critical path: 0.0 % kernels, 95.0 % host code, 5.0 % communication, most of it MPI_Recv at 0x40
(5.0 %); it runs through rank 0 for 70.0 %. Only shortening it shortens the run.

Where  MPI function  calls  s/rank  of run  mostly
0x40   MPI_Recv          1   0.075   7.5 %  late sender (rank 1)
0x80   MPI_Send          1   0.025   2.5 %  wire (rank 0)

Rank  run s  kernels  comm.  hidden  overlap  exposed  up to  of run
0     1.000    0.200  0.250   0.100   40.0 %    0.150  0.150  15.0 %
1     1.000    0.300  0.050   0.000    0.0 %    0.050  0.050   5.0 %

Kernel   runs  s/rank  hides  exposed after  mostly at
stencil     2   0.250  0.050          0.100  0x40

Waited for  at                times  late by s  above all  meanwhile in
    rank 1  MPI_Send at 0x80      1      0.200  1 × 0.200  100.0 % kernels, stencil

NVTX phase  s/rank in it  exposed in it  of phase  parallel efficiency  load balance  communication
exchange           0.175          0.075    42.9 %               28.6 %        50.0 %         57.1 %

Messages         size     count  bytes  transport   GB/s  why this transport
device → device  ≤ 1 MiB      1  1 MiB  peer       0.026  peer access over NVLink

8 records, 0 dropped; recording cost 0.0 % of the run.
)";
  EXPECT_EQ(to_text(analyse(directory.path()), {.all = true}), expected);
}

TEST(ReportText, figures_that_say_nothing_are_left_out) {
  Report report = large_report();
  report.advice = {{AdviceKind::overlap, 64 * 16'000'000, "Overlap.", "", 0, 1}};
  report.latecomers.resize(1);
  report.latecomers[0].long_times = 471;
  report.latecomers[0].long_ns = 471 * 5'000;
  for (RankFigures& rank : report.ranks) {
    rank.kernels_known = true;
    rank.clock_error_ns = 40;
    rank.start_cost_ns = 8'250'000;
    rank.finish_cost_ns = 973'000;
  }
  const std::string text = to_text(report, {.all = true});
  EXPECT_NE(text.find("0.016          Overlap."), std::string::npos) << text;
  EXPECT_NE(text.find("471 × 5.00 µs"), std::string::npos) << text;
  EXPECT_EQ(text.find("GPU clock error"), std::string::npos) << text;
  EXPECT_NE(text.find("8.25 ms to start and 0.97 ms to"), std::string::npos)
      << "one unit in a sentence: " << text;
}

TEST(ReportText, a_change_is_told_in_percent_as_long_as_that_can_be_read) {
  EXPECT_EQ(change_text(100, 104), "+4.0 %");
  EXPECT_EQ(change_text(100, 30'307.7), "303 times as long");
  EXPECT_EQ(change_text(100, 0), "-100.0 %");
  EXPECT_EQ(change_text(0, 1), "new");
}

TEST(ReportText, has_no_kernels_on_the_critical_path_of_a_program_without_a_gpu) {
  Report report = large_report();
  report.replay.emplace();
  report.replay->observed_ns = 100;
  report.replay->path.host_code_ns = 60;
  report.replay->path.communication_ns = 40;
  report.replay->gpu_efficiency.reset();
  const auto path_of = [&] {
    const std::string text = to_text(report, {.all = true});
    EXPECT_EQ(text.find("TALP"), std::string::npos) << text;
    return text.substr(text.find("The critical path"), 60);
  };
  EXPECT_TRUE(path_of().starts_with("The critical path: 0.0 % kernels, 60.0 % host code")) << path_of();
  report.measure = Measure::communication_time;
  EXPECT_TRUE(path_of().starts_with("The critical path: 60.0 % host code, 40.0 % communication"))
      << path_of();
}

TEST(ReportText, explains_each_cause_and_part_that_has_a_row) {
  Report report = large_report();
  report.gaps.clear();
  for (std::size_t i = 0; i < part_count; ++i) {
    (*report.parts)[i] = i + 1;
  }
  std::string text;  // without line ends, as meanings are wrapped
  for (const std::string& line : lines_of(to_text(report, {.all = true}))) {
    text += line + " ";
  }
  for (std::size_t i = 0; i < part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    if (part != TimePart::kernels && part != TimePart::host_code) {
      EXPECT_NE(text.find(std::string(name_of(part)) + ": " + std::string(meaning_of(part))),
                std::string::npos)
          << name_of(part);
    }
  }
}

/// What stands out is host code, of one rank: the first screen says so, by step.
TEST(ReportText, golden_screen_of_host_code_in_each_step) {
  ::setenv("TZ", "UTC", 1);
  const TemporaryDirectory directory;
  constexpr std::uint64_t ms = 1'000'000;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder recording(rank, 2);
    recording.runs(0, 120 * ms);
    for (std::uint32_t step = 0; step < 4; ++step) {
      const std::uint64_t begin = step * 30 * ms;
      const std::uint64_t comes = begin + (rank == 0 ? 10 : 25) * ms;
      recording.range("step", begin, begin + 30 * ms)
          .kernel(begin, begin + 6 * ms)
          .cuda_synchronisation(begin, begin + 7 * ms)
          .range("assemble", begin + 7 * ms, comes)
          .call({.function = "MPI_Allreduce",
                 .begin = comes,
                 .end = begin + 28 * ms,
                 .bytes = 8,
                 .call_site = 0x40,
                 .collective_ordinal = step + 1});
    }
    recording.write(directory.path());
  }
  const std::string text = to_text(analyse(directory.path()), {});
  const std::string expected = R"(penstock · solver --steps 10
2 ranks on node01 · MPICH 4.0.2 · Test GPU · 2023-11-14 22:30

41.7 % of the steps (50.000 ms of 120.000 ms on the average rank) is host code: no kernel runs, and
the host is outside MPI. 84.0 % of it is in the NVTX range assemble, most on rank 1. 35.0 % is
exposed communication. First advice: shorten host code of rank 1 (50.0 %).

4 steps (NVTX range step), median 30.0 ms, longest 30.0 ms (step 1 on rank 1). Not counted: start-up
0.00 µs (0.00 µs exposed); shutdown 0.00 µs (0.00 µs exposed).

Where the time of a step goes  ms/step  of steps    most  rank
kernels                          6.000    20.0 %   6.000     0  ██████
host code                       12.500    41.7 %  20.000     1  ████████████▌
exposed communication           10.500    35.0 %  18.000     0  ██████████▌
  wait at collective             7.500    25.0 %  15.000     0  ███████▌
  wire                           3.000    10.0 %   3.000     0  ███
CUDA synchronisation             1.000     3.3 %   1.000     0  █
wait at collective: the last rank of a collective, or its root, had not come yet; wire: both sides
were there, data was moving; CUDA synchronisation: the host waits for the GPU, on which no kernel or
copy runs
host code (all else): 84.0 % in the NVTX range assemble and 2 more
)";
  EXPECT_EQ(text.substr(0, text.find("\nWhat would help")), expected);
}

/// What stands out is the program's copies: the first screen says between which calls they are.
TEST(ReportText, copies_and_waits_for_the_gpu_are_told_with_their_place) {
  const TemporaryDirectory directory;
  RecordingBuilder recording(0, 1);
  recording.runs(0, 4100).kernel(0, 100);
  for (std::uint64_t begin = 100; begin < 4100; begin += 1000) {
    recording
        .call({.function = "MPI_Recv", .begin = begin, .end = begin + 100, .bytes = 8, .call_site = 0x20})
        .copy(begin + 150, begin + 750, 4096, testing::to_host)
        .cuda_synchronisation(begin + 100, begin + 900)
        .call({.function = "MPI_Send",
               .begin = begin + 900,
               .end = begin + 1000,
               .bytes = 8,
               .call_site = 0x30});
  }
  recording.write(directory.path());
  const std::string text = to_text(analyse(directory.path()), {});
  const std::string where = "100.0 % between MPI_Recv at 0x20 and MPI_Send at 0x30";
  EXPECT_NE(text.find("kernel runs. 100.0 % of it is between MPI_Recv at 0x20 and MPI_Send at 0x30. "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\nwhere other copies are: " + where + "\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nwhere CUDA synchronisation is: " + where + "\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::analysis
