// Writes the recordings that fuzzing begins with: small ones with every kind of record, one and two ranks.
//   fuzz_seeds DIRECTORY
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "tests/analysis/recording_builder.hpp"

namespace {

using namespace penstock;
using analysis::testing::RecordingBuilder;
using trace::Direction;

RecordingBuilder everything(std::int32_t rank, std::int32_t ranks) {
  RecordingBuilder builder(rank, ranks);
  const std::int32_t peer = (rank + 1) % ranks;
  builder.module("/nowhere/solver", 0x1000, 0x2000, 0, 0x1000)
      .notice("a feature is off")
      .fact("commit", "1a2b3c")
      .fact("network", "ethernet eth0 12 34")
      .gpu_sample({.at = 400, .energy_mj = 5})
      .gpu_sample({.at = 4400, .energy_mj = 9, .throttle_reasons = trace::throttle::heat})
      .runs(0, 5000)
      .nccl_call({.function = "ncclCommInitRank", .begin = 410, .end = 420, .ranks = ranks, .rank = rank});
  trace::Thread next{};
  next.thread_id = RecordingBuilder::thread_of_lane(1);
  next.name[0] = 'x';
  next.kind = trace::RecordKind::thread;
  builder.on_lane(1)
      .raw(next)
      .range("of a thread", 700, 1100)
      .call({.function = "MPI_Recv", .begin = 800, .end = 1000})
      .on_lane(0);
  const std::uint64_t reduction =
      builder.path({0x1300, 0x1310, 0x1320, 0x1330, 0x1340, 0x1350, 0x1360, 0x1370});
  for (std::uint64_t step = 0; step < 4; ++step) {
    const std::uint64_t t = 500 + step * 1000;
    const std::uint64_t key = (static_cast<std::uint64_t>(rank == 0 ? 1 : 2) << 40) | (step + 1);
    const std::uint64_t other_key = (static_cast<std::uint64_t>(rank == 0 ? 2 : 1) << 40) | (step + 1);
    builder.range("step", t, t + 1000)
        .launches(RecordingBuilder::thread_of_lane(step % 2), static_cast<std::uint8_t>(step % 2))
        .kernel(t, t + 300, "_Z4bulkv")
        .kernel(t + 200, t + 250, "pull", true)
        .copy(t + 300, t + 320, 4096, 2)
        .nccl_call({.function = "ncclAllReduce",
                    .begin = t + 20,
                    .end = t + 40,
                    .bytes = 64,
                    .ordinal = static_cast<std::uint32_t>(step + 1)})
        .launched_kernel(t + 30, t + 310, t + 400, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
        .nccl_call({.function = "ncclGroupStart", .begin = t + 41, .end = t + 42})
        .nccl_call(
            {.function = "ncclSend", .begin = t + 43, .end = t + 44, .bytes = 8, .ordinal = 1, .peer = peer})
        .nccl_call({.function = "ncclRecv", .begin = t + 45, .end = t + 46, .ordinal = 1, .peer = peer})
        .nccl_call({.function = "ncclGroupEnd", .begin = t + 47, .end = t + 50})
        .launched_kernel(t + 48, t + 400, t + 420, "_Z22ncclDevKernel_SendRecvP4args")
        .call({.function = "MPI_Isend",
               .begin = t + 330,
               .end = t + 340,
               .bytes = 4096,
               .call_site = 0x1100,
               .waits = 0})
        .half({.direction = Direction::send,
               .peer = peer,
               .post = t + 330,
               .complete = t + 500,
               .bytes = 4096,
               .key = key,
               .blocking = false})
        .half({.direction = Direction::receive,
               .peer = peer,
               .post = t + 320,
               .complete = t + 490,
               .bytes = 4096,
               .key = step % 2 == 0 ? other_key : 0,
               .blocking = false,
               .buffer = trace::BufferKind::device})
        .transfer({.begin = t + 400, .end = t + 480, .bytes = 4096, .key = other_key, .wait = 20, .pack = 10})
        .call({.function = "MPI_Waitall", .begin = t + 350, .end = t + 500, .call_site = 0x1200})
        .copy(t + 510, t + 530, 4096, 1)
        .call({.function = "MPI_Allreduce",
               .begin = t + 600 + static_cast<std::uint64_t>(rank) * 50,
               .end = t + 700,
               .bytes = 8,
               .call_site = reduction,
               .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
  }
  return builder;
}

/// The blocks of a recording are mostly empty: the reader takes a file that ends anywhere.
std::vector<std::byte> trimmed(const RecordingBuilder& builder) {
  std::vector<std::byte> bytes = builder.bytes();
  while (!bytes.empty() && bytes.back() == std::byte{0}) {
    bytes.pop_back();
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds DIRECTORY\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  std::filesystem::create_directories(directory);
  const std::vector<std::byte> one = trimmed(everything(0, 1));
  analysis::testing::write_bytes(directory / "one-rank", one);
  std::vector<std::byte> two = trimmed(everything(0, 2));
  RecordingBuilder second = everything(1, 2);
  const std::vector<std::byte> same_host = trimmed(second);
  two.insert(two.end(), same_host.begin(), same_host.end());
  analysis::testing::write_bytes(directory / "two-ranks", two);
  std::snprintf(second.header().host_name, sizeof second.header().host_name, "node02");
  std::vector<std::byte> hosts = trimmed(everything(0, 2));
  const std::vector<std::byte> other_host = trimmed(second);
  hosts.insert(hosts.end(), other_host.begin(), other_host.end());
  analysis::testing::write_bytes(directory / "two-hosts", hosts);
  analysis::testing::write_bytes(directory / "delta-coded",
                                 trimmed(everything(0, 1).coded(trace::BlockCoding::delta)));
  return 0;
}
