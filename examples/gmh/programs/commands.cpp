// The cost of a command in a list: tiny kernels run through a GMH list, by bare launches, and as a captured
// CUDA graph. Times are microseconds per kernel, from the first launch until the GPU is idle.
#include <mpi.h>

#include "examples/gmh/programs/program.hpp"
#include "examples/gmh/programs/stencil_kernels.hpp"

using namespace gmh_programs;

namespace {

/// Queues the work of a command: a kernel of one cell.
int queue_one(cudaStream_t stream, void* grid) {
  auto* const values = static_cast<double*>(grid);
  return queue_update(stream, {1, 1}, {1, 1, 1}, values, values, nullptr);
}

template <typename Body>
double seconds_of(Body body) {
  const double start_s = MPI_Wtime();
  body();
  return MPI_Wtime() - start_s;
}

}  // namespace

int main(int argc, char** argv) {
  Common common;
  int commands = 1000;
  CLI::App app{"The cost of a command in a list, beside bare launches and a CUDA graph", "gmh_commands"};
  add_common(app, common);
  app.add_option("--commands", commands, "kernels of a list")->check(at_least_one())->capture_default_str();

  std::vector<Json> rows;
  const auto body = [&](gmh_tasklist_t list) {
    int rank = 0;
    require(gmh_rank(list, &rank));
    gmh_stream_t stream = nullptr;
    cudaStream_t cuda = nullptr;
    gmh_mem_t memory = nullptr;
    void* grid = nullptr;
    require(gmh_create_command_stream(list, &stream, GMH_NORMAL));
    require(gmh_stream_cuda(stream, &cuda));
    require(gmh_mem_create(list, 3 * sizeof(double), GMH_READ | GMH_WRITE, GMH_NO_SHADOW, &memory));
    require(gmh_mem_pointers(memory, &grid, nullptr, nullptr));
    for (int i = 0; i < commands; ++i)
      require(gmh_add_gpu_kernel(list, stream, queue_one, grid, 0, nullptr, nullptr));

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    require_cuda(cudaStreamBeginCapture(cuda, cudaStreamCaptureModeThreadLocal), "capture a graph");
    for (int i = 0; i < commands; ++i)
      require_cuda(static_cast<cudaError_t>(queue_one(cuda, grid)), "launch a kernel");
    require_cuda(cudaStreamEndCapture(cuda, &graph), "capture a graph");
    require_cuda(cudaGraphInstantiate(&executable, graph, 0), "capture a graph");

    const auto by_list = [&] { require(gmh_start(list)); };
    const auto bare = [&] {
      for (int i = 0; i < commands; ++i)
        require_cuda(static_cast<cudaError_t>(queue_one(cuda, grid)), "launch a kernel");
      require_cuda(cudaStreamSynchronize(cuda), "wait for kernels");
    };
    const auto by_graph = [&] {
      require_cuda(cudaGraphLaunch(executable, cuda), "launch a graph");
      require_cuda(cudaStreamSynchronize(cuda), "wait for kernels");
    };
    by_list();
    by_graph();
    const double list_s = median_of([&] { return seconds_of(by_list); });
    const double bare_s = median_of([&] { return seconds_of(bare); });
    const double graph_s = median_of([&] { return seconds_of(by_graph); });
    require_cuda(cudaGraphExecDestroy(executable), "free a graph");
    require_cuda(cudaGraphDestroy(graph), "free a graph");
    if (rank == 0)
      rows.push_back({{"commands", commands},
                      {"list_us", list_s * 1e6 / commands},
                      {"bare_us", bare_s * 1e6 / commands},
                      {"graph_us", graph_s * 1e6 / commands}});
  };
  const auto finish = [&] { return print_rows(common, {{"example", "gmh_commands"}}, rows, true); };
  return run(app, common, argc, argv, body, finish);
}
