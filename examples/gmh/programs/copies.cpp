// Figure 6 of the paper: copies between a GPU and pinned memory, in microseconds, and between two
// processes half a round trip of host memory by MPI: the parts of a message that is staged by hand.
#include <mpi.h>

#include "examples/gmh/programs/program.hpp"

using namespace gmh_programs;

namespace {

double copy_s(gmh_mem_t memory, gmh_stream_t stream, bool to_host, int rounds) {
  cudaStream_t cuda = nullptr;
  require(gmh_stream_cuda(stream, &cuda));
  const double start_s = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    require(to_host ? gmh_mem_to_host(memory, stream) : gmh_mem_to_gpu(memory, stream));
    require_cuda(cudaStreamSynchronize(cuda), "wait for a copy");
  }
  return (MPI_Wtime() - start_s) / rounds;
}

/// Returns half a round trip between the first two processes, both of which call this.
double host_message_s(char* buffer, std::size_t bytes, int process, int rounds) {
  const auto count = static_cast<int>(bytes);
  const double start_s = MPI_Wtime();
  for (int message = 0; message < 2 * rounds; ++message) {
    if (message % 2 == process) {
      MPI_Send(buffer, count, MPI_BYTE, 1 - process, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(buffer, count, MPI_BYTE, 1 - process, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return (MPI_Wtime() - start_s) / (2.0 * rounds);
}

}  // namespace

int main(int argc, char** argv) {
  Common common;
  std::vector<std::size_t> sizes{8, 4096, 65536, std::size_t{1} << 20, std::size_t{16} << 20};
  int rounds = 100;
  CLI::App app{"Copies between a GPU and its pinned shadow; on two processes also host messages of MPI",
               "gmh_copies"};
  add_common(app, common);
  add_sizes(app, sizes);
  app.add_option("--rounds", rounds, "copies of a measurement, of which five are made")
      ->check(at_least_one())
      ->capture_default_str();

  std::vector<Json> rows;
  bool all_are_right = true;
  const auto body = [&](gmh_tasklist_t list) {
    int rank = 0;
    int process = 0;
    int vgpu = 0;
    int processes = 1;
    require(gmh_rank(list, &rank));
    require(gmh_mpi_rank(list, rank, &process));
    require(gmh_vgpu(list, rank, &vgpu));
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (vgpu != 0 || process > 1) return;
    gmh_stream_t stream = nullptr;
    require(gmh_create_command_stream(list, &stream, GMH_NORMAL));
    for (const std::size_t bytes : sizes) {
      gmh_mem_t memory = nullptr;
      void* host = nullptr;
      require(gmh_mem_create(list, bytes, GMH_READ | GMH_WRITE, GMH_WITH_SHADOW, &memory));
      require(gmh_mem_pointers(memory, nullptr, &host, nullptr));
      auto* const shadow = static_cast<char*>(host);
      std::fill_n(shadow, bytes, 'a');
      const double from_host_s = median_of([&] { return copy_s(memory, stream, false, rounds); });
      std::fill_n(shadow, bytes, 'b');
      const double to_host_s = median_of([&] { return copy_s(memory, stream, true, rounds); });
      const bool is_right = std::count(shadow, shadow + bytes, 'a') == static_cast<std::ptrdiff_t>(bytes);
      Json mpi_us;
      if (processes > 1)
        mpi_us = 1e6 * median_of([&] { return host_message_s(shadow, bytes, process, rounds); });
      require(gmh_mem_free(memory));
      if (rank != 0) continue;
      rows.push_back({{"bytes", bytes},
                      {"to_host_us", to_host_s * 1e6},
                      {"from_host_us", from_host_s * 1e6},
                      {"host_message_us", mpi_us}});
      all_are_right = all_are_right && is_right;
    }
  };
  const auto finish = [&] { return print_rows(common, {{"example", "gmh_copies"}}, rows, all_are_right); };
  return run(app, common, argc, argv, body, finish);
}
