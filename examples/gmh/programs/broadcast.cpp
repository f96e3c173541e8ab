// Figure 9 of the paper: broadcast to all GMH ranks, in microseconds. With one thread per process,
// `--beside-mpi` measures MPI_Bcast of the same GPU memory, for which MPI must be GPU-aware.
#include <mpi.h>

#include <cstdlib>
#include <stdexcept>

#include "examples/gmh/programs/program.hpp"

using namespace gmh_programs;

namespace {

/// Returns the seconds of one of `rounds` broadcasts.
template <typename Broadcast>
double broadcast_s(gmh_tasklist_t list, int rounds, Broadcast broadcast) {
  require(gmh_Barrier(list));
  const double start_s = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) broadcast(round);
  return (MPI_Wtime() - start_s) / rounds;
}

}  // namespace

int main(int argc, char** argv) {
  Common common;
  std::vector<std::size_t> sizes{
      4, 4096, 65536, std::size_t{1} << 20, std::size_t{16} << 20, std::size_t{64} << 20};
  int rounds = 50;
  bool beside_mpi = false;
  CLI::App app{"Broadcast to all GMH ranks", "gmh_broadcast"};
  add_common(app, common);
  add_sizes(app, sizes);
  app.add_option("--rounds", rounds, "broadcasts of a measurement, of which five are made")
      ->check(at_least_one())
      ->capture_default_str();
  app.add_flag("--beside-mpi", beside_mpi, "MPI_Bcast, too, with GPU memory; for --gpus 1");

  std::vector<Json> rows;
  const auto body = [&](gmh_tasklist_t list) {
    int rank = 0;
    int size = 1;
    require(gmh_rank(list, &rank));
    require(gmh_size(list, &size));
    for (const std::size_t bytes : sizes) {
      const auto count = static_cast<int>(bytes);
      gmh_mem_t memory = nullptr;
      void* gpu = nullptr;
      require(gmh_mem_create(list, bytes, GMH_READ | GMH_WRITE, GMH_NO_SHADOW, &memory));
      require(gmh_mem_pointers(memory, &gpu, nullptr, nullptr));
      require_cuda(cudaMemset(gpu, rank, bytes), "fill a memory");
      require_cuda(cudaDeviceSynchronize(), "fill a memory");
      require(gmh_Bcast(list, gpu, count, GMH_BYTE, size - 1));
      std::vector<unsigned char> arrived(bytes);
      require_cuda(cudaMemcpy(arrived.data(), gpu, bytes, cudaMemcpyDeviceToHost), "read a memory");
      if (std::count(arrived.begin(), arrived.end(), size - 1) != static_cast<std::ptrdiff_t>(bytes))
        throw std::runtime_error("a broadcast did not arrive");
      const double gmh_s = median_of([&] {
        return broadcast_s(list, rounds,
                           [&](int round) { require(gmh_Bcast(list, gpu, count, GMH_BYTE, round % size)); });
      });
      Json mpi_us;
      if (beside_mpi) {
        mpi_us = 1e6 * median_of([&] {
                   return broadcast_s(list, rounds, [&](int round) {
                     MPI_Bcast(gpu, count, MPI_BYTE, round % size, MPI_COMM_WORLD);
                   });
                 });
      }
      require(gmh_mem_free(memory));
      if (rank == 0) rows.push_back({{"bytes", bytes}, {"broadcast_us", gmh_s * 1e6}, {"mpi_us", mpi_us}});
    }
  };
  const auto finish = [&] { return print_rows(common, {{"example", "gmh_broadcast"}}, rows, true); };
  const auto complaint = [&] { return beside_mpi && common.gpus > 1 ? "--beside-mpi: needs --gpus 1" : ""; };
  return run(app, common, argc, argv, body, finish, complaint);
}
