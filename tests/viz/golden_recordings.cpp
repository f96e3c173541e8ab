// Writes the recordings whose pages are looked at by a browser: their figures are known, since every time in
// them is chosen.
//   golden_recordings DIRECTORY
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/analysis/recording_builder.hpp"

namespace {

using namespace penstock;
using analysis::testing::RecordingBuilder;

constexpr std::uint64_t ms = 1'000'000;

std::filesystem::path folder(const std::filesystem::path& directory, const char* name) {
  const std::filesystem::path path = directory / name;
  std::filesystem::create_directories(path);
  return path;
}

/// A late sender: of 2 s in all, 0.1 s is late sender and 0.1 s is wire. The recording of the text's golden
/// page. Where the sender `sends` sooner, all that follows is sooner by as much.
void write_late_sender(const std::filesystem::path& path, std::uint64_t sends = 300 * ms) {
  constexpr std::uint64_t bytes = 1 << 20;
  const auto run = static_cast<std::uint32_t>(sends / ms);
  RecordingBuilder(0, 2)
      .of_run(run)
      .runs(0, 1000 * ms)
      .kernel(0, 200 * ms)
      .half({.direction = trace::Direction::receive,
             .peer = 1,
             .post = 100 * ms,
             .complete = sends + 50 * ms,
             .bytes = bytes,
             .key = 1,
             .buffer = trace::BufferKind::device})
      .transfer({.begin = sends + 10 * ms, .end = sends + 50 * ms, .bytes = bytes, .key = 1})
      .call({.function = "MPI_Recv",
             .begin = 100 * ms,
             .end = sends + 50 * ms,
             .bytes = bytes,
             .call_site = 0x40})
      .range("exchange", 50 * ms, 400 * ms)
      .write(path);
  RecordingBuilder(1, 2)
      .of_run(run)
      .runs(0, 1000 * ms)
      .kernel(0, sends)
      .half({.direction = trace::Direction::send,
             .peer = 0,
             .post = sends,
             .complete = sends + 50 * ms,
             .bytes = bytes,
             .key = 1,
             .buffer = trace::BufferKind::device})
      .call(
          {.function = "MPI_Send", .begin = sends, .end = sends + 50 * ms, .bytes = bytes, .call_site = 0x80})
      .write(path);
}

/// Forty steps of 10 ms with an Allreduce each. At step 18 rank 1 computes 20 ms longer, and rank 0 waits for
/// it.
void write_slow_step(const std::filesystem::path& path, std::uint32_t run, std::uint64_t usual = 6 * ms,
                     const std::string& commit = "1111111111aaaa") {
  constexpr std::uint64_t steps = 40;
  constexpr std::uint64_t slow = 17;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder builder(rank, 2);
    builder.of_run(run).fact("commit", commit);
    std::uint64_t begin = 100 * ms;
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t longest = step == slow ? usual + 20 * ms : usual;
      const std::uint64_t own = rank == 1 ? longest : usual;
      builder.range("step", begin, begin + longest + 4 * ms)
          .kernel(begin, begin + own, "_Z4bulkv")
          .call({.function = "MPI_Allreduce",
                 .begin = begin + own,
                 .end = begin + longest + 2 * ms,
                 .bytes = 8,
                 .call_site = 0x1300,
                 .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
      begin += longest + 4 * ms;
    }
    builder.runs(0, begin + 50 * ms).write(path);
  }
}

/// More ranks than have a bar each. Rank n comes 1 ms × n into the only barrier, which ends at 100 ms.
void write_many_ranks(const std::filesystem::path& path) {
  constexpr std::int32_t ranks = 40;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t arrival = static_cast<std::uint64_t>(rank) * ms;
    RecordingBuilder(rank, ranks)
        .runs(0, 200 * ms)
        .kernel(0, arrival + 1)
        .call({.function = "MPI_Barrier",
               .begin = arrival,
               .end = 100 * ms,
               .call_site = 0x40,
               .collective_ordinal = 1})
        .write(path);
  }
}

/// Twelve steps of 10 ms on eight ranks, from 100 ms on. In each, rank r sends (r + 1) MiB to the next rank
/// within 1 ms, so at (r + 1) × 1.048576 GB/s. Rank 3 posts its send 2 ms late; all reduce at the end. Rank
/// 3's GPU is throttled by heat, and each draws 300 W.
void write_ring(const std::filesystem::path& path) {
  constexpr std::int32_t ranks = 8;
  constexpr std::uint64_t steps = 12;
  constexpr std::uint64_t us = 1000;
  const auto bytes_from = [](std::int32_t rank) { return static_cast<std::uint64_t>(rank + 1) << 20; };
  const auto key_of = [](std::int32_t sender, std::uint64_t step) {
    return (static_cast<std::uint64_t>(sender) + 1) << 40 | (step + 1);
  };
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    RecordingBuilder builder(rank, ranks);
    const std::int32_t before = (rank + ranks - 1) % ranks;
    const std::int32_t next = (rank + 1) % ranks;
    const auto sends_at = [](std::int32_t sender) { return sender == 3 ? 3200 * us : 1200 * us; };
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t begin = 100 * ms + step * 10 * ms;
      const std::uint64_t posted = begin + sends_at(rank);
      const std::uint64_t arrives = begin + sends_at(before) + 1800 * us;
      const std::uint64_t waited = std::max(arrives, begin + sends_at(rank) + 1800 * us);
      builder.range("step", begin, begin + 10 * ms)
          .range("exchange", begin + 900 * us, waited + 50 * us)
          .kernel(begin + 100 * us, begin + 1900 * us, "_Z4bulkPfi")
          .kernel(waited + 100 * us, begin + 8 * ms, "_Z4edgePfi")
          .copy(begin + 8100 * us, begin + 8200 * us, 64, 2)
          .call({.function = "MPI_Irecv",
                 .begin = begin + 1000 * us,
                 .end = begin + 1020 * us,
                 .bytes = bytes_from(before),
                 .call_site = 0x10,
                 .peer = before,
                 .waits = 0})
          .call({.function = "MPI_Isend",
                 .begin = posted,
                 .end = posted + 30 * us,
                 .bytes = bytes_from(rank),
                 .call_site = 0x20,
                 .peer = next,
                 .waits = 0})
          .call({.function = "MPI_Waitall", .begin = posted + 40 * us, .end = waited, .call_site = 0x30})
          .half({.direction = trace::Direction::receive,
                 .peer = before,
                 .post = begin + 1000 * us,
                 .complete = waited,
                 .bytes = bytes_from(before),
                 .key = key_of(before, step),
                 .blocking = false,
                 .buffer = trace::BufferKind::device})
          .half({.direction = trace::Direction::send,
                 .peer = next,
                 .post = posted,
                 .complete = waited,
                 .bytes = bytes_from(rank),
                 .key = key_of(rank, step),
                 .blocking = false,
                 .buffer = trace::BufferKind::device})
          .transfer({.begin = arrives - 1 * ms,
                     .end = arrives,
                     .bytes = bytes_from(before),
                     .key = key_of(before, step)})
          .call({.function = "MPI_Allreduce",
                 .begin = begin + 8300 * us + static_cast<std::uint64_t>(rank) * 100 * us,
                 .end = begin + 9500 * us,
                 .bytes = 8,
                 .call_site = 0x40,
                 .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
    }
    for (std::uint64_t at = 0; at <= 300; at += 10) {
      builder.gpu_sample({.at = at * ms,
                          .gpu = "0000:" + std::to_string(10 + rank) + ":00.0",
                          .energy_mj = 1'000 + at * 300,
                          .throttle_reasons = rank == 3 ? trace::throttle::heat : 0,
                          .sm_mhz = static_cast<std::uint16_t>(rank == 3 ? 990 : 1980),
                          .temperature_c = static_cast<std::uint8_t>(rank == 3 ? 91 : 50),
                          .index = static_cast<std::uint16_t>(rank)});
    }
    builder.runs(0, 300 * ms).write(path);
  }
}

/// More ranks than have tracks of their own. Rank n comes 0.5 ms × n into the only barrier, which ends at 100
/// ms.
void write_crowd(const std::filesystem::path& path) {
  constexpr std::int32_t ranks = 100;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    const std::uint64_t arrival = static_cast<std::uint64_t>(rank) * ms / 2;
    RecordingBuilder(rank, ranks)
        .runs(0, 200 * ms)
        .kernel(0, arrival + 1)
        .call({.function = "MPI_Barrier",
               .begin = arrival,
               .end = 100 * ms,
               .call_site = 0x40,
               .collective_ordinal = 1})
        .write(path);
  }
}

/// Nobody knows what the GPU did.
void write_blind(const std::filesystem::path& path) {
  RecordingBuilder builder(0, 1);
  builder.header().features = trace::feature::gpu_used;
  builder.runs(0, 100 * ms).call({.function = "MPI_Barrier", .begin = 10 * ms, .end = 20 * ms}).write(path);
}

/// Every text that a recording holds tries to be more than text.
void write_hostile(const std::filesystem::path& path) {
  const std::string attack =
      "</script><script>window.attacked=1</script><img src=x onerror=window.attacked=1>";
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder builder(rank, 2);
    const auto set = [&](auto& field, const std::string& text) {
      std::snprintf(field, sizeof field, "%s", text.c_str());
    };
    set(builder.header().program, "./solver " + attack + "<!--<script>");
    set(builder.header().host_name, attack);
    set(builder.header().mpi_version, attack);
    set(builder.header().device_name, attack);
    builder.runs(0, 1000 * ms)
        .notice(attack + "\"'\\\u2028")
        .module("/nowhere/" + attack, 0x1000, 0x2000, 0, 0x1000)
        .range(attack, 10 * ms, 900 * ms)
        .kernel(20 * ms, 100 * ms, attack)
        .half({.direction = rank == 0 ? trace::Direction::receive : trace::Direction::send,
               .peer = 1 - rank,
               .post = 200 * ms,
               .complete = 350 * ms,
               .bytes = 4096,
               .key = 1,
               .buffer = trace::BufferKind::device})
        .call({.function = attack,
               .begin = 150 * ms,
               .end = 350 * ms,
               .call_site = 0x1100,
               .collective_ordinal = 0});
    if (rank == 0) {
      builder.transfer({.begin = 210 * ms, .end = 340 * ms, .bytes = 4096, .key = 1, .reason = attack});
    }
    builder.write(path);
  }
}

/// 2,400 steps of 1 ms, more than a report lists one by one. Most of each is host code in the NVTX range
/// assemble; in step 1,700 rank 1 needs 5 ms longer for it, and rank 0 waits. Rank 0 has two threads that
/// communicate, and copies on five streams behind its kernels.
void write_long_run(const std::filesystem::path& path) {
  constexpr std::uint64_t us = 1000;
  constexpr std::uint64_t steps = 2400;
  constexpr std::uint64_t slow = 1699;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder builder(rank, 2);
    builder.named("solver");
    std::uint64_t begin = 10 * ms;
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t assembled = begin + 500 * us + (step == slow ? 5 * ms : 0);
      const std::uint64_t own = rank == 1 ? assembled : begin + 500 * us;
      builder.range("step", begin, assembled + 500 * us)
          .range("assemble", begin, own)
          .kernel(own + 20 * us, own + 320 * us, "_Z4bulkPfi")
          .copy(own + 330 * us, own + 350 * us, 4096, 2)
          .call({.function = "MPI_Allreduce",
                 .begin = own + 360 * us,
                 .end = assembled + 480 * us,
                 .bytes = 8,
                 .call_site = 0x1300,
                 .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
      for (std::uint32_t stream = 1; rank == 0 && step % 10 == 0 && stream <= 5; ++stream) {
        trace::DeviceActivity copy{};
        copy.begin_ns = analysis::testing::origin_ns + own + (20 + 20 * stream) * us;
        copy.end_ns = copy.begin_ns + 100 * us;
        copy.bytes = 4096;
        copy.stream = stream;
        copy.copy_kind = 2;
        copy.kind = trace::RecordKind::device_copy;
        builder.raw(copy);
      }
      begin = assembled + 500 * us;
    }
    builder.runs(0, begin + 10 * ms);
    if (rank == 0) {
      builder.on_lane(1).named("io").call(
          {.function = "MPI_Probe", .begin = 20 * ms, .end = 420 * ms, .call_site = 0x1400});
    }
    builder.write(path);
  }
}

/// Rank 1 sends nothing more from 40 ms on and does not reach MPI_Finalize; rank 0 waits for it until its own
/// recording ends.
void write_unfinished(const std::filesystem::path& path) {
  RecordingBuilder(0, 2)
      .runs(0, 100 * ms)
      .never_finishes()
      .kernel(0, 20 * ms)
      .call({.function = "MPI_Barrier",
             .begin = 20 * ms,
             .end = 30 * ms,
             .call_site = 0x40,
             .collective_ordinal = 1})
      .call({.function = "MPI_Barrier",
             .begin = 35 * ms,
             .end = 100 * ms,
             .call_site = 0x40,
             .collective_ordinal = 2})
      .write(path);
  RecordingBuilder(1, 2)
      .runs(0, 40 * ms)
      .never_finishes()
      .kernel(0, 25 * ms)
      .call({.function = "MPI_Barrier",
             .begin = 25 * ms,
             .end = 30 * ms,
             .call_site = 0x40,
             .collective_ordinal = 1})
      .write(path);
}

/// Four steps with an AllReduce of NCCL's, to which rank 1 comes 40 ms late, as it computes; rank 0 hides 5
/// ms of it. One more kernel was launched by a CUDA graph.
void write_nccl(const std::filesystem::path& path) {
  constexpr const char* kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder builder(rank, 2);
    builder.runs(0, 1000 * ms).launches(100, 0);
    builder.nccl_call(
        {.function = "ncclCommInitRank", .begin = 1 * ms, .end = 2 * ms, .ranks = 2, .rank = rank});
    for (std::uint64_t step = 0; step < 4; ++step) {
      const std::uint64_t at = (100 + 200 * step) * ms;
      const std::uint64_t computed = at + (rank == 0 ? 40 : 80) * ms;
      builder.range("step", at, at + 200 * ms)
          .kernel(at, computed, "_Z7stencilv")
          .nccl_call({.function = "ncclAllReduce",
                      .begin = at + 5 * ms,
                      .end = at + 7 * ms,
                      .bytes = std::uint64_t{64} << 20,
                      .ordinal = static_cast<std::uint32_t>(step + 1)})
          .launched_kernel(at + 6 * ms, computed, at + 100 * ms, kernel)
          .call({.function = "MPI_Barrier",
                 .begin = at + 120 * ms,
                 .end = at + 130 * ms,
                 .call_site = 0x40,
                 .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
      if (rank == 0) {
        builder.kernel(at + 90 * ms, at + 95 * ms, "_Z4halov");
      }
    }
    builder.kernel(860 * ms, 870 * ms, kernel).write(path);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: golden_recordings DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  write_late_sender(folder(directory, "late_sender"));
  write_late_sender(folder(directory, "sooner_sender"), 240 * ms);
  write_slow_step(folder(directory, "slow_step"), 1);
  write_slow_step(folder(directory, "slow_step_again"), 2);
  write_slow_step(folder(directory, "slow_step_once_more"), 3);
  write_slow_step(folder(directory, "slower_steps"), 4, 9 * ms, "2222222222bbbb");
  write_many_ranks(folder(directory, "many_ranks"));
  write_crowd(folder(directory, "crowd"));
  write_ring(folder(directory, "ring"));
  write_blind(folder(directory, "blind"));
  write_hostile(folder(directory, "hostile"));
  write_long_run(folder(directory, "long_run"));
  write_unfinished(folder(directory, "unfinished"));
  write_nccl(folder(directory, "nccl"));
  return 0;
}
