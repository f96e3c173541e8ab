#include "tests/differential/freed_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace penstock::differential {

namespace {

/// Operations of two 32-bit integers an element, which differ.
void add_pairs(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const std::uint32_t*>(in);
  auto* into = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < 2 * *count; ++i) into[i] += from[i];
}
void mix_pairs(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const std::uint32_t*>(in);
  auto* into = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < 2 * *count; ++i) into[i] ^= from[i] * 3;
}

int integers_in(const Region& region) {
  return static_cast<int>(region.bytes / sizeof(std::uint32_t));
}

}  // namespace

FreedRun::FreedRun(const Freed& freed, MPI_Comm world, Arenas& arenas, bool may_be_persistent)
    : freed_(freed), arenas_(arenas), may_be_persistent_(may_be_persistent) {
  MPI_Comm_rank(world, &rank_);
  make_communicator(world);
  start_sends();
  if (freed_.frees_before_receiving && rank_ % 2 == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  start_receives();
  start_collective();
  free_handles();
  make_others(world);
}

void FreedRun::make_communicator(MPI_Comm world) {
  int size = 0;
  MPI_Comm_size(world, &size);
  if (freed_.reverses_ranks) {
    MPI_Comm_split(world, 0, size - rank_, &communicator_);
  } else {
    MPI_Comm_dup(world, &communicator_);
  }
}

void FreedRun::start_sends() {
  int size = 0;
  MPI_Comm_size(communicator_, &size);
  const auto number_of = [&](int rank) { return freed_.reverses_ranks ? size - 1 - rank : rank; };
  for (std::size_t i = 0; i < freed_.transfers.size(); ++i) {
    const Freed::Transfer& transfer = freed_.transfers[i];
    if (transfer.source != rank_) continue;
    arenas_.fill_with_list(transfer.send, i + 1);
    int count = integers_in(transfer.receive);
    MPI_Datatype type = MPI_UINT32_T;
    if (transfer.stride > 1) {
      MPI_Type_vector(count, 1, transfer.stride, MPI_UINT32_T, &type);
      MPI_Type_commit(&type);
      types_.push_back(type);
      count = 1;
    }
    requests_.push_back(MPI_REQUEST_NULL);
    const void* buffer = arenas_.address(transfer.send);
    const int to = number_of(transfer.destination);
    const int tag = static_cast<int>(i);
    if (transfer.is_persistent && may_be_persistent_) {
      const auto init = transfer.is_synchronous ? MPI_Ssend_init : MPI_Send_init;
      init(buffer, count, type, to, tag, communicator_, &requests_.back());
      MPI_Start(&requests_.back());
    } else {
      const auto send = transfer.is_synchronous ? MPI_Issend : MPI_Isend;
      send(buffer, count, type, to, tag, communicator_, &requests_.back());
    }
  }
}

void FreedRun::start_receives() {
  int size = 0;
  MPI_Comm_size(communicator_, &size);
  for (std::size_t i = 0; i < freed_.transfers.size(); ++i) {
    const Freed::Transfer& transfer = freed_.transfers[i];
    if (transfer.destination != rank_) continue;
    const int from = freed_.reverses_ranks ? size - 1 - transfer.source : transfer.source;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(integers_in(transfer.receive), MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    types_.push_back(type);
    counted_.push_back(static_cast<int>(requests_.size()));
    received_.push_back(transfer.receive);
    requests_.push_back(MPI_REQUEST_NULL);
    void* buffer = arenas_.address(transfer.receive);
    if (transfer.is_persistent && may_be_persistent_) {
      MPI_Recv_init(buffer, 1, type, from, static_cast<int>(i), communicator_, &requests_.back());
      MPI_Start(&requests_.back());
    } else {
      MPI_Irecv(buffer, 1, type, from, static_cast<int>(i), communicator_, &requests_.back());
    }
  }
}

void FreedRun::start_collective() {
  if (!freed_.reduces) return;
  MPI_Op_create(add_pairs, 1, &operation_);
  MPI_Type_contiguous(2, MPI_UINT32_T, &element_);
  MPI_Type_commit(&element_);
  const auto rank = static_cast<std::size_t>(rank_);
  requests_.push_back(MPI_REQUEST_NULL);
  MPI_Iallreduce(arenas_.address(freed_.reduce_sends[rank]), arenas_.address(freed_.reduce_receives[rank]),
                 freed_.reduced, element_, operation_, communicator_, &requests_.back());
}

void FreedRun::free_handles() {
#ifdef OPEN_MPI
  // its non-blocking collectives (4.1) go on using a communicator that is gone, and crash, on host memory too
  const bool may_free_communicator = !freed_.reduces;
#else
  const bool may_free_communicator = true;
#endif
  if (may_free_communicator) MPI_Comm_free(&communicator_);
  for (MPI_Datatype& type : types_) MPI_Type_free(&type);
  if (operation_ == MPI_OP_NULL) return;
  MPI_Op_free(&operation_);
  MPI_Type_free(&element_);
}

void FreedRun::make_others(MPI_Comm world) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  // lists sent on a new communicator may be sorted; those on the freed one must not
  MPI_Info_set(info, "penstock_vertex_set", freed_.hints_vertex_sets ? "true" : "false");
  const auto make_one = [&]() -> MPI_Comm& { return other_communicators_.emplace_back(MPI_COMM_NULL); };
  // those of one rank come first: they wait for nobody, so that receives of other ranks may not be posted yet
  for (int i = 0; i < 2; ++i) MPI_Comm_dup_with_info(MPI_COMM_SELF, info, &make_one());
  MPI_Comm_dup_with_info(world, info, &make_one());
  MPI_Comm_split(world, rank_ % 2, rank_, &make_one());  // fewer ranks, other numbers
  MPI_Info_free(&info);
  for (std::size_t i = 0; i < types_.size() + 1; ++i) {
    other_types_.push_back(MPI_DATATYPE_NULL);
    MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &other_types_.back());
    MPI_Type_commit(&other_types_.back());
  }
  MPI_Op_create(mix_pairs, 0, &other_operation_);
}

std::string FreedRun::finish() {
  std::vector<MPI_Status> statuses(requests_.size());
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), statuses.data());
  std::string line = "received";
  for (std::size_t i = 0; i < received_.size(); ++i) {
    const MPI_Status& status = statuses[static_cast<std::size_t>(counted_[i])];
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    line += fmt::format(" {}:{}:{}:{:016x}", status.MPI_SOURCE, status.MPI_TAG, bytes,
                        arenas_.digest(received_[i]));
  }
  if (freed_.reduces) {
    line += fmt::format(" reduced {:016x}",
                        arenas_.digest(freed_.reduce_receives[static_cast<std::size_t>(rank_)]));
  }
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  if (communicator_ != MPI_COMM_NULL) MPI_Comm_free(&communicator_);
  for (MPI_Comm& other : other_communicators_) MPI_Comm_free(&other);
  for (MPI_Datatype& type : other_types_) MPI_Type_free(&type);
  MPI_Op_free(&other_operation_);
  return line;
}

}  // namespace penstock::differential
