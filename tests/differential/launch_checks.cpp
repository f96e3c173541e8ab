#include "tests/differential/launch_checks.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/support/memory.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::differential {

namespace {

using test_support::Memory;
using test_support::MemoryKind;

/// Some integers in a device's memory, as large as what GPUs combine themselves.
class Integers {
 public:
  static constexpr int most = 20000;

  explicit Integers(bool host_only) : memory_(kind_on(host_only), most * sizeof(int), device_on(host_only)) {}

  void fill(int first) {
    std::vector<int> values(most);
    for (int i = 0; i < most; ++i) values[static_cast<std::size_t>(i)] = first + i;
    memory_.write(0, values.data(), values.size() * sizeof(int));
  }
  /// How many of the first `count` are not `first + i * step`.
  [[nodiscard]] int wrong(int count, int first, int step) const {
    std::vector<int> values(most);
    memory_.read(0, values.data(), values.size() * sizeof(int));
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += values[static_cast<std::size_t>(i)] != first + i * step ? 1 : 0;
    return wrong;
  }
  [[nodiscard]] void* data() const { return memory_.data(); }

 private:
  static bool has_gpu(bool host_only) { return !host_only && test_support::gpu_count() > 0; }
  static MemoryKind kind_on(bool host_only) {
    return has_gpu(host_only) ? MemoryKind::device : MemoryKind::pageable;
  }
  static int device_on(bool host_only) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return has_gpu(host_only) ? rank % test_support::gpu_count() : 0;
  }
  Memory memory_;
};

/// A ring and a sum over all ranks; how many values were wrong.
int exchange_and_reduce(MPI_Comm communicator, int count, Integers& send, Integers& receive) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &size);
  const int before = (rank + size - 1) % size;
  send.fill(rank);
  receive.fill(-1);
  MPI_Sendrecv(send.data(), count, MPI_INT, (rank + 1) % size, 0, receive.data(), count, MPI_INT, before, 0,
               communicator, MPI_STATUS_IGNORE);
  int wrong = receive.wrong(count, before, 1);
  MPI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, communicator);
  wrong += receive.wrong(count, size * (size - 1) / 2, size);
  MPI_Request request = MPI_REQUEST_NULL;
  receive.fill(-1);
  MPI_Iallreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, communicator, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return wrong + receive.wrong(count, size * (size - 1) / 2, size);
}

/// Lives from call_mpi_in_finalize() until the callback is over.
struct AtFinalize {
  MPI_Comm communicator = MPI_COMM_NULL;
  Integers send;
  Integers receive;
};
bool is_asked_for = false;
bool went_well = false;

int at_finalize(MPI_Comm, int, void* value, void*) {
  auto* kept = static_cast<AtFinalize*>(value);
  test_support::progress("MPI calls in MPI_Finalize");
  int is_over = 1;
  MPI_Finalized(&is_over);
  int wrong = is_over;
  for (const int count : {1, 1000, Integers::most})
    wrong += exchange_and_reduce(kept->communicator, count, kept->send, kept->receive);
  if (wrong > 0) std::fprintf(stderr, "FAILED: %d wrong in a callback of MPI_Finalize\n", wrong);
  went_well = wrong == 0;
  delete kept;
  return MPI_SUCCESS;
}

}  // namespace

void call_mpi_in_finalize(bool host_only) {
  auto* kept = new AtFinalize{MPI_COMM_NULL, Integers(host_only), Integers(host_only)};
  MPI_Comm_dup(MPI_COMM_WORLD, &kept->communicator);
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, kept);
  MPI_Comm_free_keyval(&key);
  is_asked_for = true;
}

bool finalize_went_well() {
  return !is_asked_for || went_well;
}

long messages_written() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(MPI_COMM_WORLD, &info);
  std::array<char, 32> text{};
  int is_there = 0;
  MPI_Info_get(info, "penstock_receives_written", static_cast<int>(text.size()) - 1, text.data(), &is_there);
  MPI_Info_free(&info);
  const long own = is_there != 0 ? std::strtol(text.data(), nullptr, 10) : 0;
  long all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int use_many_communicators(int count, bool host_only) {
  constexpr std::size_t alive = 40;  // at once
  Integers send(host_only);
  Integers receive(host_only);
  std::vector<MPI_Comm> communicators;
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    test_support::progress("communicator %d of %d", i, count);
    communicators.push_back(MPI_COMM_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &communicators.back());
    if (i % 25 == 24) {
      const auto which = static_cast<std::size_t>(i) * 7 % communicators.size();
      const int elements = i % 50 == 49 ? Integers::most : 100;
      wrong += exchange_and_reduce(communicators[which], elements, send, receive);
    }
    if (communicators.size() > alive) {
      MPI_Comm_free(&communicators[static_cast<std::size_t>(i) * 5 % alive]);
      std::swap(communicators[static_cast<std::size_t>(i) * 5 % alive], communicators.back());
      communicators.pop_back();
    }
  }
  for (MPI_Comm& communicator : communicators) MPI_Comm_free(&communicator);
  if (wrong > 0) std::fprintf(stderr, "FAILED: %d wrong on many communicators\n", wrong);
  return wrong;
}

}  // namespace penstock::differential
