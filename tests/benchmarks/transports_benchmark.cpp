// What the roads cost without MPI: payloads between two processes by size, from a device to another or to the
// host, each beside the raw CUDA IPC copy of the same bytes, taken in turns in the same processes. Quote the
// ratio. Then what staged calls copy by, what many pieces cost by one launch of a kernel (`batched`, beside a
// loop of raw copies), and what the question "is this pointer on a device?" costs, which every MPI call asks.
//
//     transports_benchmark
//         [--benchmark_filter=peer|batched|into_host|relayed|staged|blocking|host_copy|is_on_device]
//
// The sender is this program started again; it uses device 0, the receiver the last device.
#include <benchmark/benchmark.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "transports/batched_copy.hpp"
#include "transports/host_copy.hpp"
#include "transports/staged.hpp"
#include "transports/transport.hpp"

namespace {

using namespace penstock;
using namespace penstock::transports;

constexpr std::size_t largest_bytes = std::size_t{1} << 30;

void require(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: CUDA error %d\n", call, static_cast<int>(result));
  std::exit(1);
}
#define REQUIRE_CUDA(call) require((call), #call)

void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: code %d, %d\n", status.where(), static_cast<int>(status.code()), status.detail());
  std::exit(1);
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::perror(what);
  std::exit(1);
}

/// Device memory of a device's primary context, which becomes current.
class DeviceMemory {
 public:
  DeviceMemory(int device, std::size_t bytes) {
    CUcontext context = nullptr;
    REQUIRE_CUDA(cuDevicePrimaryCtxRetain(&context, device));
    REQUIRE_CUDA(cuCtxSetCurrent(context));
    REQUIRE_CUDA(cuMemAlloc(&address_, bytes));
  }
  ~DeviceMemory() { cuMemFree(address_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  [[nodiscard]] Place place(std::size_t bytes) const {
    return {inspect(reinterpret_cast<const void*>(address_)), Layout::contiguous(bytes)};
  }

 private:
  CUdeviceptr address_ = 0;
};

/// What the receiver asks of the sender; the answer is an Offer.
struct Request {
  std::size_t bytes;
  Road road;
};

int run_sender(int socket) {
  REQUIRE_CUDA(cuInit(0));
  const DeviceMemory memory(0, largest_bytes);
  Request request{};
  while (recv(socket, &request, sizeof(request), 0) == sizeof(request)) {
    const Place source = memory.place(request.bytes);
    const char* why_not = "";
    Offer offer = describe(source, &why_not);
    std::unique_ptr<StagedSend> send;
    if (request.road == Road::relayed) require(StagedSend::start(source, Staging::device_ring, offer, send));
    if (request.road == Road::staged) require(StagedSend::start(source, Staging::host_ring, offer, send));
    require(::send(socket, &offer, sizeof(offer), 0) == sizeof(offer), "send");
    for (bool produced = false; send != nullptr && !(produced && send->drained());)
      require(send->advance(produced));
  }
  return 0;
}

/// The sender's process, and the receiver's memory.
class Pair {
 public:
  Pair() : device_(last_device()), memory_(device_, largest_bytes) {
    int sockets[2];
    require(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0, "socketpair");
    socket_ = sockets[0];
    sender_ = fork();
    if (sender_ == 0) {
      const std::string socket = std::to_string(dup(sockets[1]));
      execl("/proc/self/exe", "sender", "--sender", socket.c_str(), nullptr);
      _exit(127);
    }
    close(sockets[1]);
  }
  ~Pair() {
    close(socket_);
    waitpid(sender_, nullptr, 0);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] Offer ask(const Request& request) const {
    Offer offer{};
    require(send(socket_, &request, sizeof(request), 0) == sizeof(request), "send");
    require(recv(socket_, &offer, sizeof(offer), 0) == sizeof(offer), "recv");
    return offer;
  }
  [[nodiscard]] const DeviceMemory& memory() const noexcept { return memory_; }

 private:
  static int last_device() {
    REQUIRE_CUDA(cuInit(0));
    int devices = 0;
    REQUIRE_CUDA(cuDeviceGetCount(&devices));
    return devices - 1;
  }

  int device_;
  DeviceMemory memory_;
  int socket_ = -1;
  pid_t sender_ = -1;
};

const Pair& pair() {
  static const Pair instance;
  return instance;
}

void pull(const Offer& offer, const Place& destination) {
  const Choice choice = choose(offer, destination);
  require(choice.transport != nullptr, choice.reason);
  std::unique_ptr<Pull> pull;
  require(choice.transport->start(offer, destination, pull));
  for (bool finished = false; !finished;) require(pull->advance(finished));
}

/// The sender's memory mapped by this program itself.
class RawCopy {
 public:
  explicit RawCopy(const Offer& offer) {
    CUipcMemHandle handle;
    std::memcpy(&handle, offer.ipc_handle, sizeof(handle));
    REQUIRE_CUDA(cuIpcOpenMemHandle(&source_, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    REQUIRE_CUDA(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
  }
  ~RawCopy() {
    cuStreamDestroy(stream_);
    cuIpcCloseMemHandle(source_);
  }
  RawCopy(const RawCopy&) = delete;
  RawCopy& operator=(const RawCopy&) = delete;
  void copy(CUdeviceptr destination, std::size_t bytes) const { copy_pieces(destination, bytes, 1); }
  void copy_pieces(CUdeviceptr destination, std::size_t bytes, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i)
      REQUIRE_CUDA(cuMemcpyAsync(destination + i * bytes, source_ + i * bytes, bytes, stream_));
    while (cuStreamQuery(stream_) == CUDA_ERROR_NOT_READY) {
    }
  }
  [[nodiscard]] CUdeviceptr source() const noexcept { return source_; }

 private:
  CUdeviceptr source_ = 0;
  CUstream stream_ = nullptr;
};

template <class Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void report(benchmark::State& state, std::size_t bytes, std::vector<double>& raw_s,
            std::vector<double>& pull_s) {
  const double raw_median_s = median(raw_s);
  const double pull_median_s = median(pull_s);
  state.counters["raw_us"] = raw_median_s * 1e6;
  state.counters["pull_us"] = pull_median_s * 1e6;
  state.counters["pull_GB/s"] = static_cast<double>(bytes) / pull_median_s / 1e9;
  state.counters["raw/pull"] = raw_median_s / pull_median_s;
}

/// Pulls into `destination` beside raw copies to `raw_destination`, by turns.
void pull_beside_raw(benchmark::State& state, const Place& destination, void* raw_destination) {
  const std::size_t bytes = destination.layout.bytes();
  const Offer offer = pair().ask({bytes, Road::peer});
  require(offer.ipc_exported != 0, "export of the sender's memory");
  const RawCopy raw(offer);
  const auto raw_address = reinterpret_cast<CUdeviceptr>(raw_destination);
  raw.copy(raw_address, bytes);
  pull(offer, destination);
  std::vector<double> raw_s;
  std::vector<double> pull_s;
  for (auto iteration : state) {
    raw_s.push_back(seconds_of([&] { raw.copy(raw_address, bytes); }));
    pull_s.push_back(seconds_of([&] { pull(offer, destination); }));
    state.SetIterationTime(pull_s.back());
  }
  report(state, bytes, raw_s, pull_s);
}

void peer(benchmark::State& state) {
  const Place destination = pair().memory().place(static_cast<std::size_t>(state.range(0)));
  pull_beside_raw(state, destination, destination.buffer.pointer);
}
BENCHMARK(peer)->RangeMultiplier(8)->Range(8, largest_bytes)->UseManualTime();

/// Host memory that has been touched; pinned if asked for.
class HostMemory {
 public:
  HostMemory(std::size_t bytes, bool pinned) : memory_(bytes, '\1'), pinned_(pinned) {
    static_cast<void>(pair());  // makes a context current
    if (pinned_) REQUIRE_CUDA(cuMemHostRegister(memory_.data(), bytes, CU_MEMHOSTREGISTER_PORTABLE));
  }
  ~HostMemory() {
    if (pinned_) cuMemHostUnregister(memory_.data());
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  [[nodiscard]] void* data() noexcept { return memory_.data(); }

 private:
  std::vector<char> memory_;
  bool pinned_;
};

constexpr std::size_t largest_host_bytes = std::size_t{256} << 20;

/// Raw is the copy to pinned memory in both cases: PCIe's speed.
void into_host(benchmark::State& state, bool pinned) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  HostMemory memory(bytes, pinned);
  HostMemory raw_memory(bytes, true);
  pull_beside_raw(state, {inspect(memory.data()), Layout::contiguous(bytes)}, raw_memory.data());
}
BENCHMARK_CAPTURE(into_host, pinned, true)
    ->RangeMultiplier(4)
    ->Range(64 << 10, largest_host_bytes)
    ->UseManualTime();
BENCHMARK_CAPTURE(into_host, pageable, false)
    ->RangeMultiplier(4)
    ->Range(64 << 10, largest_host_bytes)
    ->UseManualTime();

/// Blocking copies between device and pageable memory, as collectives and files use them.
void blocking(benchmark::State& state, bool to_host) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  HostMemory memory(bytes, false);
  const Place place = pair().memory().place(bytes);
  for (auto iteration : state) {
    require(to_host ? download(memory.data(), place) : upload(place, memory.data()));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK_CAPTURE(blocking, download, true)
    ->RangeMultiplier(8)
    ->Range(64 << 10, largest_host_bytes)
    ->UseRealTime();
BENCHMARK_CAPTURE(blocking, upload, false)
    ->RangeMultiplier(8)
    ->Range(64 << 10, largest_host_bytes)
    ->UseRealTime();

/// What the CPU copies by itself, with the help of the cores it may use.
void host_copy(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  std::vector<char> from(bytes, '\1');
  std::vector<char> to(bytes, '\2');
  for (auto iteration : state) copy_host(to.data(), from.data(), bytes);
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(host_copy)->RangeMultiplier(4)->Range(256 << 10, largest_host_bytes)->UseRealTime();

void batched(benchmark::State& state) {
  constexpr std::size_t count = 64;
  const auto each = static_cast<std::size_t>(state.range(0));
  const Offer offer = pair().ask({count * each, Road::peer});
  require(offer.ipc_exported != 0, "export of the sender's memory");
  const RawCopy raw(offer);
  const CUdeviceptr destination = pair().memory().address();
  std::vector<CopyItem> items;
  for (std::size_t i = 0; i < count; ++i)
    items.push_back({reinterpret_cast<void*>(destination + i * each),
                     reinterpret_cast<const void*>(raw.source() + i * each),
                     static_cast<std::uint32_t>(each)});
  const cuda::ContextRef context = cuda::Context::of(pair().memory().place(each).buffer);
  const cuda::ContextScope scope(*context);
  CUstream stream = nullptr;
  require(context->stream(cuda::Lane::pull_0, stream));
  require(BatchedCopy::prepare(context, stream));
  BatchedCopy batch;
  const auto copy_by_kernel = [&] {
    require(batch.launch(context, stream, items));
    require(batch.wait());
  };
  copy_by_kernel();
  raw.copy_pieces(destination, each, count);
  std::vector<double> loop_s;
  std::vector<double> batch_s;
  for (auto iteration : state) {
    loop_s.push_back(seconds_of([&] { raw.copy_pieces(destination, each, count); }));
    batch_s.push_back(seconds_of(copy_by_kernel));
    state.SetIterationTime(batch_s.back());
  }
  const double loop_median_s = median(loop_s);
  const double batch_median_s = median(batch_s);
  state.counters["loop_us"] = loop_median_s * 1e6;
  state.counters["batch_us"] = batch_median_s * 1e6;
  state.counters["batch_GB/s"] = static_cast<double>(count * each) / batch_median_s / 1e9;
  state.counters["loop/batch"] = loop_median_s / batch_median_s;
}
BENCHMARK(batched)->RangeMultiplier(8)->Range(512, 256 << 10)->UseManualTime();

/// The sender's part is asked for over a socket, which costs some 20 µs.
void by_the_sender(benchmark::State& state, Road road) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const Place destination = pair().memory().place(bytes);
  const RawCopy raw(pair().ask({bytes, Road::peer}));
  force_road(road);
  std::vector<double> raw_s;
  std::vector<double> pull_s;
  for (auto iteration : state) {
    raw_s.push_back(seconds_of([&] { raw.copy(pair().memory().address(), bytes); }));
    pull_s.push_back(seconds_of([&] { pull(pair().ask({bytes, road}), destination); }));
    state.SetIterationTime(pull_s.back());
  }
  force_road(Road::none);
  report(state, bytes, raw_s, pull_s);
}
BENCHMARK_CAPTURE(by_the_sender, relayed, Road::relayed)
    ->RangeMultiplier(8)
    ->Range(8, largest_bytes)
    ->UseManualTime();
BENCHMARK_CAPTURE(by_the_sender, staged, Road::staged)
    ->RangeMultiplier(8)
    ->Range(8, largest_bytes)
    ->UseManualTime();

enum Where : std::int64_t { on_the_stack, on_the_heap, mapped_host, on_a_device };

void is_on_device_of(benchmark::State& state) {
  const int local = 0;
  const std::vector<char> heap(1000);
  void* mapped = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const void* pointers[] = {&local, heap.data(), mapped,
                            reinterpret_cast<const void*>(pair().memory().address())};
  const void* pointer = pointers[state.range(0)];
  for (auto iteration : state) benchmark::DoNotOptimize(is_on_device(pointer));
  constexpr const char* names[] = {"stack", "heap", "mapped host", "device"};
  state.SetLabel(names[state.range(0)]);
  munmap(mapped, 4096);
}
BENCHMARK(is_on_device_of)->DenseRange(on_the_stack, on_a_device);

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--sender") == 0) return run_sender(std::atoi(argv[2]));
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
