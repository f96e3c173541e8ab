// Writes a recording of many events, to look at its page and at what that costs.
//   large_recording DIRECTORY RANKS STEPS     13 records a rank and step besides its kernels
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "tests/analysis/recording_builder.hpp"

namespace {

using namespace penstock;
using analysis::testing::RecordingBuilder;

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t kernels_per_step = 27;

/// A halo exchange in a ring: steps of about 2 ms with many kernels, of which some take longer by chance.
void write_rank(const std::filesystem::path& path, std::int32_t rank, std::int32_t ranks,
                std::uint64_t steps) {
  RecordingBuilder builder(rank, ranks);
  std::mt19937 random(static_cast<std::uint32_t>(rank));
  const auto up_to = [&](std::uint64_t most) { return random() % most; };
  const std::int32_t before = (rank + ranks - 1) % ranks;
  const std::int32_t next = (rank + 1) % ranks;
  const auto key_of = [](std::int32_t sender, std::uint64_t step) {
    return (static_cast<std::uint64_t>(sender) + 1) << 40 | (step + 1);
  };
  std::mt19937 slow_steps(7);  // alike on all ranks
  std::uint64_t begin = 1'000'000 * us;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t slow = slow_steps() % 500 == 0 ? 3000 * us : 0;
    const std::uint64_t length = 2000 * us + slow;
    const std::uint64_t own =
        static_cast<std::int32_t>(step % static_cast<std::uint64_t>(ranks)) == rank ? slow : 0;
    builder.range("step", begin, begin + length)
        .range("exchange", begin + 1000 * us, begin + length - 50 * us);
    std::uint64_t at = begin + 10 * us;
    for (std::uint64_t i = 0; i < kernels_per_step; ++i) {
      const std::uint64_t took = 20 * us + up_to(15 * us) + (i == kernels_per_step - 1 ? own : 0);
      constexpr const char* names[] = {"_Z4bulkPfi", "_Z4edgePfi", "_Z6reducePfi"};
      builder.kernel(at, at + took, names[i % 3]);
      at += took + 2 * us;
    }
    const std::uint64_t posted = begin + 1050 * us + up_to(60 * us);
    const std::uint64_t arrived = begin + 1300 * us + up_to(80 * us) + own / 2;
    const std::uint64_t all = begin + length - 100 * us;
    const std::uint64_t bytes = 1 << 20;
    builder
        .call({.function = "MPI_Irecv",
               .begin = begin + 1010 * us,
               .end = begin + 1013 * us,
               .bytes = bytes,
               .call_site = 0x10,
               .peer = before,
               .waits = 0})
        .call({.function = "MPI_Isend",
               .begin = posted,
               .end = posted + 5 * us,
               .bytes = bytes,
               .call_site = 0x20,
               .peer = next,
               .waits = 0})
        .call({.function = "MPI_Waitall", .begin = posted + 6 * us, .end = arrived, .call_site = 0x30})
        .half({.direction = trace::Direction::receive,
               .peer = before,
               .post = begin + 1010 * us,
               .complete = arrived,
               .bytes = bytes,
               .key = key_of(before, step),
               .blocking = false,
               .buffer = trace::BufferKind::device})
        .half({.direction = trace::Direction::send,
               .peer = next,
               .post = posted,
               .complete = arrived,
               .bytes = bytes,
               .key = key_of(rank, step),
               .blocking = false,
               .buffer = trace::BufferKind::device})
        .transfer({.begin = arrived - 100 * us, .end = arrived, .bytes = bytes, .key = key_of(before, step)})
        .copy(arrived + us, arrived + 5 * us, 64, 2)
        .call({.function = "MPI_Allreduce",
               .begin = arrived + 10 * us,
               .end = all,
               .bytes = 8,
               .call_site = 0x40,
               .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
    begin += length;
  }
  builder.runs(0, begin + 500'000 * us).write(path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: large_recording DIRECTORY RANKS STEPS\n");
    return 2;
  }
  std::filesystem::create_directories(argv[1]);
  const std::int32_t ranks = std::atoi(argv[2]);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    write_rank(argv[1], rank, ranks, static_cast<std::uint64_t>(std::atoll(argv[3])));
  }
  return 0;
}
