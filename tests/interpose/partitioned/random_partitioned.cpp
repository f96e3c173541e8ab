// Random partitioned messages between two ranks or of a rank to itself, each in memory of some kind and once
// more in host memory by the MPI library alone (PMPI): all bytes of both must agree, those in gaps and those
// that were not sent, too.
//   random_partitioned --first SEED|date --seeds N
#include <mpi.h>

#include <cstdio>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/partitioned/without_mpi_4.hpp"
#include "tests/support/exit_code.hpp"
#include "tests/support/job_exit_code.hpp"

#if PENSTOCK_HAS_MPI_4

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "tests/interpose/partitioned/marking_kernels.hpp"
#include "tests/interpose/partitioned/partitioned_types.hpp"
#include "tests/support/job_seeds.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using penstock::test_support::Memory;
using penstock::test_support::memory_kinds;
using penstock::test_support::MemoryKind;
using penstock::test_support::PartitionType;
using penstock::test_support::PartitionTypes;
using penstock::test_support::Random;

constexpr std::size_t guard_bytes = 64;
constexpr int most_rounds = 4;

int own_rank = 0;

/// One side of a message, the same on both ranks.
struct Shape {
  PartitionType type;
  MemoryKind kind;
  int partitions;
  int count;  ///< elements of a partition
  [[nodiscard]] std::size_t partition_bytes() const { return static_cast<std::size_t>(count) * type.extent; }
  [[nodiscard]] std::size_t bytes() const {
    return 2 * guard_bytes + static_cast<std::size_t>(partitions) * partition_bytes();
  }
};

struct Message {
  int sender;
  int receiver;
  int tag;
  Shape sides[2];  ///< the sender's, the receiver's
};

struct Program {
  std::vector<Message> messages;
  int rounds;
};

/// `is_plain`: in one piece of device memory, as the receiver can copy it out of the sender's buffer.
Shape draw_shape(Random& random, const PartitionTypes& types, int ints, bool is_plain) {
  Shape shape{.type = types.all()[is_plain ? 0 : random.below(3)],
              .kind = is_plain ? MemoryKind::device : memory_kinds[random.below(memory_kinds.size())],
              .partitions = 1,
              .count = 0};
  const int elements = ints / shape.type.ints;
  do shape.partitions = random.between(1, 12);
  while (elements % shape.partitions != 0);
  shape.count = elements / shape.partitions;
  return shape;
}

Program draw_program(std::uint64_t seed, const PartitionTypes& types) {
  Random random(seed);
  Program program;
  program.rounds = random.between(1, most_rounds);
  const int messages = random.between(1, 4);
  for (int i = 0; i < messages; ++i) {
    const int ints = 6 * random.between(1, random.chance(20) ? 5000 : 60);
    const bool is_plain = random.chance(60);
    const bool is_other_plain = random.chance(is_plain ? 90 : 60);
    // two messages of one direction and tag match in the order of their initialisation
    const int sender = random.between(0, 1);
    program.messages.push_back({.sender = sender,
                                .receiver = random.chance(20) ? sender : 1 - sender,
                                .tag = random.between(10, 11),
                                .sides = {draw_shape(random, types, ints, is_plain),
                                          draw_shape(random, types, ints, is_other_plain)}});
  }
  return program;
}

/// This rank's side of one message, twice: by Penstock (its partitions marked ready by MPI_Pready or by
/// kernels), and by the MPI library in host memory.
class Half {
 public:
  Half(const Message& message, bool sends, std::uint64_t seed)
      : sends_(sends),
        shape_(message.sides[sends_ ? 0 : 1]),
        memory_(shape_.kind, shape_.bytes()),
        queued_(MemoryKind::pinned, shape_.bytes()),
        plain_(shape_.bytes()),
        random_(seed) {
    const int peer = sends ? message.receiver : message.sender;
    std::byte* const own = memory_.data() + guard_bytes;
    std::byte* const plain = plain_.data() + guard_bytes;
    if (sends_) {
      MPI_Psend_init(own, shape_.partitions, shape_.count, shape_.type.handle, peer, message.tag,
                     MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      PMPI_Psend_init(plain, shape_.partitions, shape_.count, shape_.type.handle, peer, message.tag + 100,
                      MPI_COMM_WORLD, MPI_INFO_NULL, &plain_request_);
    } else {
      MPI_Precv_init(own, shape_.partitions, shape_.count, shape_.type.handle, peer, message.tag,
                     MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      PMPI_Precv_init(plain, shape_.partitions, shape_.count, shape_.type.handle, peer, message.tag + 100,
                      MPI_COMM_WORLD, MPI_INFO_NULL, &plain_request_);
    }
  }
  ~Half() {
    cudaDeviceSynchronize();  // kernels that mark partitions may be queued behind the message's end
    MPI_Request_free(&request);
    PMPI_Request_free(&plain_request_);
  }
  Half(const Half&) = delete;
  Half& operator=(const Half&) = delete;

  /// Fills both with other bytes than before.
  void fill() {
    random_.fill(plain_.data(), plain_.size());
    memory_.write(0, plain_.data(), plain_.size());
  }
  void start_plain() { PMPI_Start(&plain_request_); }
  /// Before a start: from now on kernels mark some of the partitions, where they can.
  void let_kernels_mark() {
    if (sends_) static_cast<void>(penstock_kernel_request(request, &marks_));
  }

  /// The sender's part between start and completion, by as many threads as are allowed.
  void make_ready(int most_threads) {
    if (!sends_) return;
    for (int i = 0; i < shape_.partitions; ++i) {
      const auto [at, bytes] = place_of(i);
      random_.fill(plain_.data() + at, bytes);
    }
    queued_.write(0, plain_.data(), plain_.size());
    PMPI_Pready_range(0, shape_.partitions - 1, plain_request_);
    std::vector<int> order(static_cast<std::size_t>(shape_.partitions));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.below(i)]);
    const int threads = random_.between(1, most_threads);
    const std::uint64_t seed = random_.next();
    std::vector<std::thread> others;
    for (int each = 1; each < threads; ++each)
      others.emplace_back([&, each] { make_ready(order, each, threads, seed); });
    make_ready(order, 0, threads, seed);
    for (std::thread& other : others) other.join();
  }

  /// The receiver's: what has arrived is the program's, which changes it in both.
  void look_for_arrivals() {
    if (sends_) return;
    for (int looks = random_.between(0, 2 * shape_.partitions); looks > 0; --looks) {
      const int partition = random_.between(0, shape_.partitions - 1);
      int flag = 0;
      if (MPI_Parrived(request, partition, &flag) != MPI_SUCCESS) wrong_ = "MPI_Parrived failed";
      if (flag == 0 || std::ranges::count(arrived_, partition) != 0) continue;
      arrived_.push_back(partition);
      if (random_.chance(50)) changed_.push_back(partition);
      const auto [at, bytes] = place_of(partition);
      seen_.resize(plain_.size());
      memory_.read(at, seen_.data() + at, bytes);
      pieces_.push_back(std::vector<std::byte>(seen_.data() + at, seen_.data() + at + bytes));
      if (changed_.empty() || changed_.back() != partition) continue;
      std::vector<std::byte> other(bytes);
      random_.fill(other.data(), bytes);
      memory_.write(at, other.data(), bytes);
      changes_.push_back(other);
    }
  }

  /// After both are complete.
  [[nodiscard]] const char* find_difference() {
    PMPI_Wait(&plain_request_, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < arrived_.size(); ++i) {
      const auto [at, bytes] = place_of(arrived_[i]);
      if (!std::equal(pieces_[i].begin(), pieces_[i].end(), plain_.data() + at))
        wrong_ = "an arrived partition was not there";
    }
    for (std::size_t i = 0; i < changed_.size(); ++i)
      std::ranges::copy(changes_[i], plain_.data() + place_of(changed_[i]).first);
    arrived_.clear();
    changed_.clear();
    pieces_.clear();
    changes_.clear();
    seen_.resize(plain_.size());
    memory_.read(0, seen_.data(), seen_.size());
    if (wrong_ == nullptr && seen_ != plain_) wrong_ = sends_ ? "the send buffer" : "the receive buffer";
    return wrong_;
  }

  MPI_Request request = MPI_REQUEST_NULL;

 private:
  [[nodiscard]] std::pair<std::size_t, std::size_t> place_of(int partition) const {
    return {guard_bytes + static_cast<std::size_t>(partition) * shape_.partition_bytes(),
            shape_.partition_bytes()};
  }

  /// Every `threads`-th of the partitions, written just before.
  void make_ready(const std::vector<int>& order, int first, int threads, std::uint64_t seed) {
    Random random(seed + static_cast<std::uint64_t>(first));
    std::vector<int> written;
    for (std::size_t i = static_cast<std::size_t>(first); i < order.size();
         i += static_cast<std::size_t>(threads)) {
      const auto [at, bytes] = place_of(order[i]);
      memory_.write_in_stream_order(at, queued_.data() + at, bytes);
      written.push_back(order[i]);
      if (random.chance(30)) continue;
      mark_ready(written, random);
    }
    mark_ready(written, random);
  }
  void mark_ready(std::vector<int>& written, Random& random) {
    const bool are_neighbours =
        std::ranges::adjacent_find(written, [](int a, int b) { return b != a + 1; }) == written.end();
    if (written.empty()) return;
    if (are_neighbours && marks_.ready != nullptr && random.chance(70)) {
      // behind the writes, on the legacy stream
      const cudaError_t launched =
          penstock::test_support::mark_range(marks_, written.front(), written.back());
      if (launched != cudaSuccess) {
        std::fprintf(stderr, "rank %d: the kernel that marks: %s\n", own_rank, cudaGetErrorName(launched));
        std::abort();
      }
    } else if (are_neighbours && random.chance(70)) {
      MPI_Pready_range(written.front(), written.back(), request);
    } else if (random.chance(50)) {
      MPI_Pready_list(static_cast<int>(written.size()), written.data(), request);
    } else {
      for (const int partition : written) MPI_Pready(partition, request);
    }
    written.clear();
  }

  bool sends_;
  Shape shape_;
  Memory memory_;
  Memory queued_;
  std::vector<std::byte> plain_;
  penstock_request marks_{nullptr, 0};
  MPI_Request plain_request_ = MPI_REQUEST_NULL;
  Random random_;
  std::vector<int> arrived_;
  std::vector<int> changed_;
  std::vector<std::vector<std::byte>> pieces_;   ///< of what arrived
  std::vector<std::vector<std::byte>> changes_;  ///< to what arrived
  std::vector<std::byte> seen_;
  const char* wrong_ = nullptr;
};

void complete(std::vector<MPI_Request>& requests, Random& random) {
  const int count = static_cast<int>(requests.size());
  switch (random.below(5)) {
    case 0:
      MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (MPI_Request& request : requests) MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (int index = 0; index != MPI_UNDEFINED;)
        MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE);
      break;
    case 3:
      // MPI_Testall of MPICH 4.0 tells an error of partitioned requests in host memory that are not complete
      for (MPI_Request& request : requests) {
        for (int flag = 0; flag == 0;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      }
      break;
    default:
      for (MPI_Request& request : requests) {
        int flag = 0;
        while (flag == 0) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
  }
}

bool run(std::uint64_t seed, const PartitionTypes& types, int most_threads) {
  const Program program = draw_program(seed, types);
  Random random(seed + 1000 + static_cast<std::uint64_t>(own_rank));
  std::vector<std::unique_ptr<Half>> halves;
  for (const Message& message : program.messages) {
    const bool sends_first = random.chance(50);
    for (const bool sends : {sends_first, !sends_first}) {
      if ((sends ? message.sender : message.receiver) == own_rank)
        halves.push_back(std::make_unique<Half>(message, sends, random.next()));
    }
  }
  std::vector<MPI_Request> requests;
  for (const auto& half : halves) requests.push_back(half->request);
  for (int round = 0; round < program.rounds; ++round) {
    // one of the ranks may be late to show what it has
    if (random.chance(20)) std::this_thread::sleep_for(std::chrono::microseconds(random.between(1, 2000)));
    for (const auto& half : halves) {
      if (random.chance(20)) half->let_kernels_mark();
    }
    for (const auto& half : halves) {
      half->fill();
      half->start_plain();
    }
    if (random.chance(50)) {
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
    } else {
      for (MPI_Request& request : requests) MPI_Start(&request);
    }
    for (const auto& half : halves) half->make_ready(most_threads);
    for (const auto& half : halves) half->look_for_arrivals();
    complete(requests, random);
    for (const auto& half : halves) {
      if (const char* const wrong = half->find_difference(); wrong != nullptr) {
        std::printf("FAILED seed %llu: rank %d, round %d, message %zu: %s\n",
                    static_cast<unsigned long long>(seed), own_rank, round,
                    static_cast<std::size_t>(&half - halves.data()), wrong);
        std::fflush(stdout);
        return false;
      }
    }
  }
  return true;
}

/// Returns the program's exit code.
int run_seeds(int argc, char** argv, int most_threads) {
  const auto seeds = penstock::test_support::seeds_of_job(argc, argv);
  penstock::test_support::watch(own_rank, 60);
  const PartitionTypes types;
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    penstock::test_support::progress("seed %llu", static_cast<unsigned long long>(seed));
    if (!run(seed, types, most_threads)) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  int code = penstock::test_support::skipped;
  int has_gpu = penstock::test_support::gpu_count() > 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &has_gpu, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (has_gpu == 0) {
    std::puts("SKIPPED: no GPU");
  } else {
    code = run_seeds(argc, argv, provided == MPI_THREAD_MULTIPLE ? 4 : 1);
  }
  code = penstock::test_support::job_exit_code(code);
  MPI_Finalize();
  return code;
}

#else

int main(int argc, char** argv) {
  return penstock::test_support::skip_without_mpi_4(argc, argv);
}

#endif
