// Device→device messages between two ranks, beside the raw CUDA IPC copy of the same bytes, measured in the
// same processes and run: half a round trip, and the bandwidth of a window. Prints a table in Markdown.
//   mpiexec.mpich -n 2 penstock run message_benchmark_mpich [--max-bytes N] [--json FILE] [--facts FILE]
#include <cuda_runtime.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

constexpr int sender = 0;
constexpr int receiver = 1;
constexpr int sample_count = 11;
constexpr double sample_s = 0.004;  // long against the clock's step, short against a table of twenty rows
constexpr int window_messages = 64;
constexpr std::size_t window_limit_bytes = std::size_t{4} << 30;

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "message_benchmark: %s: %s\n", what, cudaGetErrorString(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

std::uint8_t* device_memory(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "allocate device memory");
  return static_cast<std::uint8_t*>(memory);
}

/// One rank's view of the pair: its buffers, and a raw CUDA IPC mapping of the sender's memory at the
/// receiver.
class Pair {
 public:
  explicit Pair(std::size_t max_bytes) : message_(device_memory(max_bytes)), copy_(device_memory(max_bytes)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    // A buffer of its own: the MPI's road is free to map or to unmap the other as it likes.
    cudaIpcMemHandle_t handle{};
    if (rank_ == sender) {
      check(cudaIpcGetMemHandle(&handle, copy_), "export memory");
    }
    MPI_Bcast(&handle, sizeof handle, MPI_BYTE, sender, MPI_COMM_WORLD);
    if (rank_ == receiver) {
      void* mapping = nullptr;
      check(cudaIpcOpenMemHandle(&mapping, handle, cudaIpcMemLazyEnablePeerAccess), "import memory");
      mapping_ = static_cast<std::uint8_t*>(mapping);
      check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
    }
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  ~Pair() {
    if (rank_ == receiver) {
      cudaStreamDestroy(stream_);
      cudaIpcCloseMemHandle(mapping_);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // memory that is still mapped elsewhere must not be freed
    cudaFree(copy_);
    cudaFree(message_);
  }

  void round_trip(int bytes) const {
    if (rank_ == sender) {
      MPI_Send(message_, bytes, MPI_BYTE, receiver, 0, MPI_COMM_WORLD);
      MPI_Recv(message_, bytes, MPI_BYTE, receiver, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(message_, bytes, MPI_BYTE, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(message_, bytes, MPI_BYTE, sender, 0, MPI_COMM_WORLD);
    }
  }

  void message_window(int bytes, int messages) const {
    std::array<MPI_Request, window_messages> requests{};
    for (int i = 0; i < messages; ++i) {
      MPI_Request* request = &requests[static_cast<std::size_t>(i)];
      if (rank_ == sender) {
        MPI_Isend(message_, bytes, MPI_BYTE, receiver, 0, MPI_COMM_WORLD, request);
      } else {
        MPI_Irecv(message_, bytes, MPI_BYTE, sender, 0, MPI_COMM_WORLD, request);
      }
    }
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    std::uint8_t acknowledgement = 0;
    if (rank_ == sender) {
      MPI_Recv(&acknowledgement, 1, MPI_BYTE, receiver, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(&acknowledgement, 1, MPI_BYTE, sender, 1, MPI_COMM_WORLD);
    }
  }

  /// The receiver pulls; the sender only owns the memory.
  void raw_window(int bytes, int copies) const {
    if (rank_ == receiver) {
      for (int i = 0; i < copies; ++i) {
        check(cudaMemcpyAsync(copy_, mapping_, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
              "copy");
      }
      check(cudaStreamSynchronize(stream_), "wait for a copy");
    }
  }

  /// A benchmark of messages that do not arrive would be fast. Sends a pattern that no earlier size has sent.
  void expect_arrival(int bytes) const {
    std::vector<std::uint8_t> pattern(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      pattern[i] = static_cast<std::uint8_t>(i * 131 + static_cast<std::size_t>(bytes) % 251 + (i >> 8));
    }
    if (rank_ == sender) {
      check(cudaMemcpy(message_, pattern.data(), pattern.size(), cudaMemcpyDefault), "fill the message");
      MPI_Send(message_, bytes, MPI_BYTE, receiver, 2, MPI_COMM_WORLD);
      return;
    }
    MPI_Recv(message_, bytes, MPI_BYTE, sender, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<std::uint8_t> arrived(pattern.size());
    check(cudaMemcpy(arrived.data(), message_, arrived.size(), cudaMemcpyDefault), "read the message");
    if (arrived != pattern) {
      std::fprintf(stderr, "message_benchmark: a message of %d bytes arrived damaged\n", bytes);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

 private:
  int rank_ = 0;
  std::uint8_t* message_;
  std::uint8_t* copy_;
  std::uint8_t* mapping_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Median seconds of one `step` on the clock of rank `timer`, which also decides how often; all ranks run it.
double median_s(int timer, const std::function<void()>& step) {
  step();
  double once_s = MPI_Wtime();
  step();
  once_s = MPI_Wtime() - once_s;
  int repeats = static_cast<int>(std::clamp(sample_s / std::max(once_s, 1e-9), 1.0, 2000.0));
  MPI_Bcast(&repeats, 1, MPI_INT, timer, MPI_COMM_WORLD);
  std::array<double, sample_count> samples{};
  for (double& sample : samples) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    for (int i = 0; i < repeats; ++i) {
      step();
    }
    sample = (MPI_Wtime() - start_s) / repeats;
  }
  std::nth_element(samples.begin(), samples.begin() + sample_count / 2, samples.end());
  double median = samples[sample_count / 2];
  MPI_Bcast(&median, 1, MPI_DOUBLE, timer, MPI_COMM_WORLD);
  return median;
}

struct Row {
  int bytes;
  double message_us;   ///< half a round trip
  double raw_copy_us;  ///< one copy and the wait for it
  double message_gb_per_s;
  double raw_gb_per_s;
};

Row measure(const Pair& pair, int bytes) {
  pair.expect_arrival(bytes);
  const int messages = static_cast<int>(
      std::clamp<std::size_t>(window_limit_bytes / static_cast<std::size_t>(bytes), 1, window_messages));
  const double window_gb = 1e-9 * bytes * messages;
  return {bytes, 0.5e6 * median_s(sender, [&] { pair.round_trip(bytes); }),
          1e6 * median_s(receiver, [&] { pair.raw_window(bytes, 1); }),
          window_gb / median_s(sender, [&] { pair.message_window(bytes, messages); }),
          window_gb / median_s(receiver, [&] { pair.raw_window(bytes, messages); })};
}

void write_json(const std::string& path, const std::string& facts_path, const std::vector<Row>& rows) {
  nlohmann::json document = nlohmann::json::object();
  if (!facts_path.empty()) {
    document = nlohmann::json::parse(std::ifstream(facts_path));
  }
  document["window_messages"] = window_messages;
  for (const Row& row : rows) {
    document["device_to_device"].push_back({{"bytes", row.bytes},
                                            {"message_half_round_trip_us", row.message_us},
                                            {"raw_ipc_copy_us", row.raw_copy_us},
                                            {"message_window_gb_per_s", row.message_gb_per_s},
                                            {"raw_ipc_window_gb_per_s", row.raw_gb_per_s}});
  }
  std::ofstream(path) << document.dump(1) << '\n';
}

int run(int argc, char** argv, int rank) {
  int max_bytes = 256 << 20;
  std::string json_path;
  std::string facts_path;
  CLI::App app{"Device-to-device messages between two ranks beside raw CUDA IPC copies"};
  app.add_option("--max-bytes", max_bytes, "largest message, at most 1 GiB")->check(CLI::Range(8, 1 << 30));
  app.add_option("--json", json_path, "write the figures to this file");
  app.add_option("--facts", facts_path, "JSON object to put beside the figures (date, GPU, …)");
  CLI11_PARSE(app, argc, argv);

  int device_count = 0;
  check(cudaGetDeviceCount(&device_count), "count the GPUs");
  check(cudaSetDevice(rank % device_count), "choose a GPU");
  const Pair pair(static_cast<std::size_t>(max_bytes));
  if (rank == 0) {
    std::printf(
        "Rank 0 on device 0, rank 1 on device %d. Half a round trip beside one raw copy and its wait; "
        "windows of"
        " %d.\n\n",
        1 % device_count, window_messages);
    std::printf(
        "| bytes | message µs | raw µs | ratio | message GB/s | raw GB/s | ratio |\n"
        "|---:|---:|---:|---:|---:|---:|---:|\n");
  }
  std::vector<Row> rows;
  for (std::int64_t bytes = 8; bytes <= max_bytes; bytes *= bytes < 65536 ? 2 : 4) {
    const Row row = measure(pair, static_cast<int>(bytes));
    rows.push_back(row);
    if (rank == 0) {
      std::printf("| %d | %.2f | %.2f | %.2f | %.3g | %.3g | %.2f |\n", row.bytes, row.message_us,
                  row.raw_copy_us, row.message_us / row.raw_copy_us, row.message_gb_per_s, row.raw_gb_per_s,
                  row.message_gb_per_s / row.raw_gb_per_s);
      std::fflush(stdout);
    }
  }
  if (rank == 0 && !json_path.empty()) {
    write_json(json_path, facts_path, rows);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int rank_count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  int exit_code = 2;
  if (rank_count == 2) {
    exit_code = run(argc, argv, rank);
  } else if (rank == 0) {
    std::fputs("message_benchmark: runs on 2 ranks\n", stderr);
  }
  MPI_Finalize();
  return exit_code;
}
