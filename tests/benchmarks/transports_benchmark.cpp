// What the transports cost without MPI: payloads by size into memory of every kind that matters, each
// transport beside what CUDA alone takes for the same bytes, by turns in the same processes. Quote the ratio.
// And what they are made of (transports_parts.cpp).
//
//     transports_benchmark [--benchmark_filter='^(peer|batched)'] [--sizes 64K,1M]
//
// Names are transport/where to/bytes.
#include <benchmark/benchmark.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmarks/framework.hpp"
#include "tests/benchmarks/transports_pair.hpp"
#include "transports/transport.hpp"

namespace {

using namespace penstock::benchmarks;
using namespace penstock::transports;

enum class Into { device, pinned, pageable };

struct MeasuredTransport {
  TransportKind transport;
  SenderIs sender;
  Into into;
};

/// A new transport: one row for each kind of memory that it is to be measured with. Its payload comes from a
/// device.
constexpr MeasuredTransport measured_transports[] = {
    {TransportKind::local, SenderIs::this_process, Into::device},
    {TransportKind::peer, SenderIs::other_process, Into::device},
    {TransportKind::peer, SenderIs::other_process, Into::pinned},
    {TransportKind::peer, SenderIs::other_process, Into::pageable},
    {TransportKind::relayed, SenderIs::other_process_with_device_ring, Into::device},
    {TransportKind::staged, SenderIs::other_process_with_host_ring, Into::device},
};

std::string name_of(const MeasuredTransport& row, std::size_t bytes) {
  constexpr const char* into_names[] = {"device", "pinned", "pageable"};
  return std::string(name_of(row.transport)) + '/' + into_names[static_cast<int>(row.into)] + '/' +
         std::to_string(bytes);
}

void pull(const Offer& offer, const BufferView& place) {
  const Payload payload(offer, place);
  const Choice choice = choose(payload);
  require(choice.transport != nullptr, choice.reason);
  std::unique_ptr<Pull> pull;
  require(choice.transport->start(payload, pull));
  for (bool finished = false; !finished;) require(pull->advance(finished));
}

/// Raw is a copy from the peer's memory to the receiver's device, or to pinned memory if the payload goes to
/// the host; for the staged transport, which does without the peer's memory, one from the receiver's device
/// to pinned memory.
void run_transport(benchmark::State& state, const MeasuredTransport& row, std::size_t bytes) {
  std::optional<HostMemory> host;
  if (row.into != Into::device) host.emplace(bytes, row.into == Into::pinned);
  const BufferView place =
      host ? BufferView{inspect(host->data()), Layout::contiguous(bytes)} : receiver_memory().place(bytes);
  // Asking is a part of a payload's way only where the sender has work to do before.
  const bool asks_each_time = has_ring(row.sender);
  const Offer lasting = asks_each_time ? Offer{} : offer_from(row.sender, bytes);

  const MappedSender sender;
  const RawCopies raw;
  const bool by_host_ring = row.sender == SenderIs::other_process_with_host_ring;
  std::optional<HostMemory> raw_host;
  if (host || by_host_ring) raw_host.emplace(bytes, true);
  const CUdeviceptr raw_source = by_host_ring ? receiver_memory().address() : sender.address();
  const CUdeviceptr raw_target =
      raw_host ? reinterpret_cast<CUdeviceptr>(raw_host->data()) : receiver_memory().address();

  force_transport(row.transport);
  measure_beside_raw(
      state, bytes, [&] { pull(asks_each_time ? offer_from(row.sender, bytes) : lasting, place); },
      [&] { raw.run(raw_target, raw_source, bytes); });
  force_transport(TransportKind::none);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--sender") == 0) return run_sender(std::atoi(argv[2]));
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = 8; bytes <= largest_bytes; bytes *= 8) sizes.push_back(bytes);
  std::string facts_path;
  CLI::App app{
      "Payloads by each transport without MPI, and what the transports are made of, beside raw CUDA copies"};
  app.allow_extras();
  app.footer("And Google Benchmark's options: --benchmark_filter=REGEX, --benchmark_out=FILE, …");
  app.add_option("--sizes", sizes, "bytes of a payload, as in 8,64K,1M; default: powers of 8 to 1 GiB")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, largest_bytes));
  app.add_option("--facts", facts_path, "JSON object to put beside the figures (date, GPU, …)");
  CLI11_PARSE(app, argc, argv);
  if (!start_framework(app.remaining(), facts_path)) return 1;
  for (const MeasuredTransport& row : measured_transports) {
    for (const std::size_t bytes : sizes) {
      benchmark::RegisterBenchmark(name_of(row, bytes).c_str(), run_transport, row, bytes)
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
