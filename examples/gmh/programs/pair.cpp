#include "examples/gmh/programs/pair.hpp"

#include <mpi.h>

#include <numeric>
#include <stdexcept>
#include <string>

namespace gmh_programs {
namespace {

constexpr int message_tag = 1;

}  // namespace

bool is_one_of_two(gmh_tasklist_t list) {
  int rank = 0;
  int size = 0;
  require(gmh_rank(list, &rank));
  require(gmh_size(list, &size));
  if (size < 2) throw std::runtime_error("two GMH ranks are needed: --gpus 2, or two processes");
  return rank < 2;
}

Side::Side(gmh_tasklist_t list, Shared& shared, std::size_t most_bytes)
    : list_(list), shared_(shared), most_bytes_(most_bytes) {
  int processes[2] = {};
  require(gmh_rank(list, &rank_));
  for (const int rank : {0, 1}) require(gmh_mpi_rank(list, rank, &processes[rank]));
  is_one_process_ = processes[0] == processes[1];
  void* memory = nullptr;
  require_cuda(cudaMalloc(&memory, 2 * most_bytes), "allocate GPU memory");
  buffer_ = static_cast<char*>(memory);
  require_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "create a stream");
  Shared::Place& place = shared.places[static_cast<std::size_t>(rank_)];
  place.buffer = incoming();
  require_cuda(cudaGetDevice(&place.device), "ask for the GPU");
  meet();
}

Side::~Side() {
  cudaStreamDestroy(stream_);
  cudaFree(buffer_);
}

void Side::send(std::size_t bytes) {
  require(gmh_Send(list_, nullptr, buffer_, static_cast<int>(bytes), GMH_BYTE, 1 - rank_, message_tag));
}
void Side::receive(std::size_t bytes) {
  require(gmh_Recv(list_, nullptr, incoming(), static_cast<int>(bytes), GMH_BYTE, 1 - rank_, message_tag));
}

void Side::meet() {
  if (is_first()) send(0);
  receive(0);
  if (!is_first()) send(0);
}

double Side::ping_pong_s(std::size_t bytes, int rounds) {
  meet();
  const double start_s = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    if (is_first()) send(bytes);
    receive(bytes);
    if (!is_first()) send(bytes);
  }
  return (MPI_Wtime() - start_s) / (2.0 * rounds);
}

double Side::window_s(std::size_t bytes, int messages, bool both_ways) {
  events_.clear();
  meet();
  const double start_s = MPI_Wtime();
  for (int message = 0; (both_ways || !is_first()) && message < messages; ++message) {
    require(gmh_Irecv(list_, nullptr, incoming(), static_cast<int>(bytes), GMH_BYTE, 1 - rank_, message_tag,
                      &events_.emplace_back()));
  }
  for (int message = 0; (both_ways || is_first()) && message < messages; ++message) {
    require(gmh_Isend(list_, nullptr, buffer_, static_cast<int>(bytes), GMH_BYTE, 1 - rank_, message_tag,
                      &events_.emplace_back()));
  }
  require(gmh_waitall(static_cast<int>(events_.size()), events_.data()));
  if (is_first()) {
    receive(0);  // confirms that all has arrived
  } else {
    send(0);
  }
  return MPI_Wtime() - start_s;
}

double Side::copies_s(std::size_t bytes, int copies, bool waits_for_each, bool both_ways) {
  const Shared::Place& own = shared_.places[static_cast<std::size_t>(rank_)];
  const Shared::Place& other = shared_.places[static_cast<std::size_t>(1 - rank_)];
  meet();
  const double start_s = MPI_Wtime();
  for (int copy = 0; (both_ways || is_first()) && copy < copies; ++copy) {
    require_cuda(cudaMemcpyPeerAsync(other.buffer, other.device, buffer_, own.device, bytes, stream_),
                 "copy");
    if (waits_for_each) require_cuda(cudaStreamSynchronize(stream_), "wait for a copy");
  }
  require_cuda(cudaStreamSynchronize(stream_), "wait for copies");
  const double elapsed_s = MPI_Wtime() - start_s;
  meet();
  return elapsed_s;
}

bool Side::arrives(std::size_t bytes) {
  std::vector<unsigned char> sent(bytes);
  std::vector<unsigned char> arrived(bytes);
  std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(bytes % 251));
  require_cuda(cudaMemcpy(buffer_, sent.data(), bytes, cudaMemcpyHostToDevice), "fill a buffer");
  require_cuda(cudaMemset(incoming(), 0, bytes), "clear a buffer");
  require_cuda(cudaDeviceSynchronize(), "clear a buffer");
  static_cast<void>(ping_pong_s(bytes, 1));
  require_cuda(cudaMemcpy(arrived.data(), incoming(), bytes, cudaMemcpyDeviceToHost), "read a buffer");
  return arrived == sent;
}

bool print_pair_rows(const Common& common, const char* program, const PairRows& result, const Json& more) {
  Json about{{"example", program}, {"between", result.is_one_process ? "threads" : "processes"}};
  about.update(more);
  return print_rows(common, about, result.rows, result.all_arrive);
}

}  // namespace gmh_programs
