// Reductions of which some vectors lie in host memory, on the same rank or on others, in all forms: what is
// received, what is sent, and what lies behind.
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/support/busy_gpu.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/watchdog.hpp"

namespace penstock::test_support {
namespace {

struct Kinds {
  MemoryKind send;
  MemoryKind receive;
};

/// How ranks may mix.
struct Mixture {
  const char* name;
  Kinds (*kinds_of)(int rank);
};

using enum MemoryKind;
constexpr std::array mixtures = {
    Mixture{"device to pageable",
            [](int) {
              return Kinds{device, pageable};
            }},
    Mixture{"device to pinned",
            [](int) {
              return Kinds{device, pinned};
            }},
    Mixture{"pageable to device",
            [](int) {
              return Kinds{pageable, device};
            }},
    Mixture{"pinned to device",
            [](int) {
              return Kinds{pinned, device};
            }},
    Mixture{"either way",
            [](int rank) {
              return rank % 2 == 0 ? Kinds{device, pageable} : Kinds{pinned, device};
            }},
    Mixture{"even ranks on the host",
            [](int rank) {
              return rank % 2 == 0 ? Kinds{pageable, pageable} : Kinds{device, device};
            }},
    Mixture{"odd ranks on the host",
            [](int rank) {
              return rank % 2 == 1 ? Kinds{pinned, pageable} : Kinds{device, pageable};
            }},
    Mixture{"pool to pageable",
            [](int) {
              return Kinds{async_pool, pageable};
            }},
    Mixture{"pinned to virtual",
            [](int) {
              return Kinds{pinned, virtual_memory};
            }},
    Mixture{"managed to pinned",
            [](int) {
              return Kinds{managed, pinned};
            }},
    Mixture{"all on the host",
            [](int) {
              return Kinds{pageable, pinned};
            }},
};

enum class Form { blocking, nonblocking, persistent };

/// Of a reduction: how many elements a rank has, and gets.
enum class Reduction { allreduce, reduce, reduce_scatter, reduce_scatter_block, scan, exscan };
constexpr std::array reductions = {Reduction::allreduce,      Reduction::reduce,
                                   Reduction::reduce_scatter, Reduction::reduce_scatter_block,
                                   Reduction::scan,           Reduction::exscan};
constexpr std::array names = {"Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block",
                              "Scan",      "Exscan"};

/// `count` elements of all ranks together, cut into uneven ranges where they are scattered.
class Reducing {
 public:
  /// In place MPICH 4.0.2 itself crashes in a Reduce to another root than the first rank, and in a
  /// Reduce_scatter to uneven ranges.
  Reducing(Reduction reduction, std::size_t count, const World& world, bool in_place)
      : reduction_(reduction), count_(count), world_(world), root_(in_place ? 0 : world.size - 1) {
    const auto ranks = static_cast<std::size_t>(world.size);
    if (reduction == Reduction::reduce_scatter_block || in_place) {
      count_ = count / ranks * ranks;
      ranges_.assign(ranks, static_cast<int>(count / ranks));
    } else {
      ranges_.assign(ranks, static_cast<int>(count / ranks / 2));
      ranges_.back() = static_cast<int>(count) - static_cast<int>(ranks - 1) * ranges_.front();
    }
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  /// Of the result: which elements of the vector, and of how many ranks.
  [[nodiscard]] std::size_t first() const {
    return is_scattered()
               ? static_cast<std::size_t>(std::accumulate(ranges_.begin(), ranges_.begin() + world_.rank, 0))
               : 0;
  }
  [[nodiscard]] std::size_t received() const {
    if (is_scattered()) return static_cast<std::size_t>(ranges_[static_cast<std::size_t>(world_.rank)]);
    if (reduction_ == Reduction::reduce && world_.rank != root_) return 0;
    if (reduction_ == Reduction::exscan && world_.rank == 0) return 0;
    return count_;
  }
  [[nodiscard]] int ranks_combined() const {
    if (reduction_ == Reduction::scan) return world_.rank + 1;
    return reduction_ == Reduction::exscan ? world_.rank : world_.size;
  }
  /// Only the root may reduce in place.
  [[nodiscard]] bool may_be_in_place() const {
    return reduction_ != Reduction::reduce || world_.rank == root_;
  }

  int call(Form form, const void* send, void* receive) const {
    const int n = static_cast<int>(count_);
    const int* const ranges = ranges_.data();
    const int each = ranges_.front();
    const MPI_Datatype type = MPI_UNSIGNED;
    const MPI_Op op = MPI_SUM;
    const MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == Form::blocking) {
      switch (reduction_) {
        case Reduction::allreduce:
          return MPI_Allreduce(send, receive, n, type, op, all);
        case Reduction::reduce:
          return MPI_Reduce(send, receive, n, type, op, root_, all);
        case Reduction::reduce_scatter:
          return MPI_Reduce_scatter(send, receive, ranges, type, op, all);
        case Reduction::reduce_scatter_block:
          return MPI_Reduce_scatter_block(send, receive, each, type, op, all);
        case Reduction::scan:
          return MPI_Scan(send, receive, n, type, op, all);
        case Reduction::exscan:
          return MPI_Exscan(send, receive, n, type, op, all);
      }
    }
    if (form == Form::nonblocking) {
      switch (reduction_) {
        case Reduction::allreduce:
          MPI_Iallreduce(send, receive, n, type, op, all, &request);
          break;
        case Reduction::reduce:
          MPI_Ireduce(send, receive, n, type, op, root_, all, &request);
          break;
        case Reduction::reduce_scatter:
          MPI_Ireduce_scatter(send, receive, ranges, type, op, all, &request);
          break;
        case Reduction::reduce_scatter_block:
          MPI_Ireduce_scatter_block(send, receive, each, type, op, all, &request);
          break;
        case Reduction::scan:
          MPI_Iscan(send, receive, n, type, op, all, &request);
          break;
        case Reduction::exscan:
          MPI_Iexscan(send, receive, n, type, op, all, &request);
          break;
      }
      return MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#if PENSTOCK_HAS_MPI_4
    const MPI_Info info = MPI_INFO_NULL;
    switch (reduction_) {
      case Reduction::allreduce:
        MPI_Allreduce_init(send, receive, n, type, op, all, info, &request);
        break;
      case Reduction::reduce:
        MPI_Reduce_init(send, receive, n, type, op, root_, all, info, &request);
        break;
      case Reduction::reduce_scatter:
        MPI_Reduce_scatter_init(send, receive, ranges, type, op, all, info, &request);
        break;
      case Reduction::reduce_scatter_block:
        MPI_Reduce_scatter_block_init(send, receive, each, type, op, all, info, &request);
        break;
      case Reduction::scan:
        MPI_Scan_init(send, receive, n, type, op, all, info, &request);
        break;
      case Reduction::exscan:
        MPI_Exscan_init(send, receive, n, type, op, all, info, &request);
        break;
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return MPI_Request_free(&request);
#else
    return MPI_ERR_OTHER;
#endif
  }

 private:
  [[nodiscard]] bool is_scattered() const {
    return reduction_ == Reduction::reduce_scatter || reduction_ == Reduction::reduce_scatter_block;
  }

  Reduction reduction_;
  std::size_t count_;
  World world_;
  int root_;
  std::vector<int> ranges_;
};

unsigned number(int rank, std::size_t i, unsigned round) {
  return static_cast<unsigned>(i) * 2654435761u + static_cast<unsigned>(rank) * 40503u + round;
}

std::size_t differences(const std::vector<unsigned>& seen, const std::vector<unsigned>& expected) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) wrong += seen[i] == expected[i] ? 0 : 1;
  return wrong;
}

/// One call, whose buffers have some elements more than it may touch.
void expect_right(const Reducing& reducing, Form form, const Kinds& kinds, bool in_place, unsigned round) {
  constexpr std::size_t behind = 5;
  const World world;
  const int gpu = world.rank % gpu_count();
  const std::size_t length = reducing.count() + behind;
  std::vector<unsigned> own(length);
  for (std::size_t i = 0; i < length; ++i) own[i] = number(world.rank, i, round);
  Memory send(kinds.send, length * sizeof(unsigned), gpu);
  Memory receive(kinds.receive, length * sizeof(unsigned), gpu);
  send.write(0, own.data(), length * sizeof(unsigned));
  const bool is_in_place = in_place && reducing.may_be_in_place();
  std::vector<unsigned> expected = is_in_place ? own : std::vector<unsigned>(length, 77u);
  receive.write(0, expected.data(), length * sizeof(unsigned));

  EXPECT_EQ(reducing.call(form, is_in_place ? MPI_IN_PLACE : send.data(), receive.data()), MPI_SUCCESS);

  for (std::size_t i = 0; i < reducing.received(); ++i) {
    expected[i] = 0;
    for (int rank = 0; rank < reducing.ranks_combined(); ++rank)
      expected[i] += number(rank, reducing.first() + i, round);
  }
  std::vector<unsigned> seen(length);
  receive.read(0, seen.data(), length * sizeof(unsigned));
  // in place, what is behind a scattered result is undefined until the vector's end
  if (is_in_place && reducing.received() < reducing.count()) {
    for (std::size_t i = reducing.received(); i < reducing.count(); ++i) seen[i] = expected[i];
  }
  EXPECT_EQ(differences(seen, expected), 0u);
  send.read(0, seen.data(), length * sizeof(unsigned));
  EXPECT_EQ(differences(seen, own), 0u);
}

void expect_all_right(const std::vector<std::size_t>& counts, Form form) {
  unsigned round = 0;
  const World world;
  for (const Mixture& mixture : mixtures) {
    for (const Reduction reduction : reductions) {
      for (const std::size_t count : counts) {
        for (const bool in_place : {false, true}) {
          const char* const name = names[static_cast<std::size_t>(reduction)];
          const char* const where = in_place ? ", in place" : "";
          SCOPED_TRACE(testing::Message() << name << " of " << count << ", " << mixture.name << where);
          progress("%s of %zu, %s%s", name, count, mixture.name, where);
          expect_right(Reducing(reduction, count, world, in_place), form, mixture.kinds_of(world.rank),
                       in_place, ++round);
        }
      }
      if (any_rank_failed()) return;
    }
  }
}

/// Of 32 KiB, where the GPU begins to do it, and below; in one step and in two.
TEST(MixedReductions, that_block_are_right) {
  expect_all_right({1'000, 8'191, 8'192, 300'001}, Form::blocking);
}
TEST(MixedReductions, that_do_not_block_are_right) {
  expect_all_right({8'191, 8'192, 300'001}, Form::nonblocking);
}
#if PENSTOCK_HAS_MPI_4
TEST(MixedReductions, that_are_persistent_are_right) {
  expect_all_right({8'192}, Form::persistent);
}
#endif

/// More than one piece of each rank's range where the result's memory stands in for the vector, and more than
/// there is memory for where it does not.
TEST(MixedReductions, of_large_vectors_are_right) {
  const World world;
  unsigned round = 1000;
  const Reducing reducing(Reduction::allreduce, (std::size_t{17} << 20) + 1, world, false);
  for (const std::size_t mixture : {std::size_t{0}, std::size_t{3}}) {
    SCOPED_TRACE(mixtures[mixture].name);
    expect_right(reducing, Form::blocking, mixtures[mixture].kinds_of(world.rank), false, ++round);
  }
}

/// What the application had queued for the buffer on the device comes first.
TEST(MixedReductions, come_after_what_the_program_has_queued) {
  const World world;
  constexpr std::size_t count = 200'000;
  const int gpu = world.rank % gpu_count();
  for (const bool from_device : {true, false}) {
    Memory send(from_device ? MemoryKind::device : MemoryKind::pageable, count * sizeof(unsigned), gpu);
    Memory receive(from_device ? MemoryKind::pageable : MemoryKind::device, count * sizeof(unsigned), gpu);
    Memory queued(MemoryKind::pinned, count * sizeof(unsigned));
    const std::vector<unsigned> own(count, static_cast<unsigned>(world.rank + 1));
    const std::vector<unsigned> other(count, 1'000'000u);
    send.write(0, (from_device ? other : own).data(), count * sizeof(unsigned));
    queued.write(0, (from_device ? own : other).data(), count * sizeof(unsigned));
    Memory& on_device = from_device ? send : receive;
    for (int i = 0; i < 20; ++i) on_device.write_in_stream_order(0, queued.data(), count * sizeof(unsigned));
    EXPECT_EQ(MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), MPI_UNSIGNED, MPI_SUM,
                            MPI_COMM_WORLD),
              MPI_SUCCESS);
    std::vector<unsigned> seen(count);
    receive.read(0, seen.data(), count * sizeof(unsigned));
    const auto ranks = static_cast<unsigned>(world.size);
    EXPECT_EQ(differences(seen, std::vector<unsigned>(count, ranks * (ranks + 1) / 2)), 0u);
  }
}

/// A plain MPI waits for no kernel there; one of the program's may wait for what follows the call.
TEST(MixedReductions, of_a_rank_with_nothing_on_its_busy_GPU_do_not_wait_for_it) {
  const World world;
  constexpr std::size_t count = 50'000;
  for (int round = 0; round < 4; ++round) {
    const bool is_busy = world.rank == 0;
    const MemoryKind kind = is_busy ? MemoryKind::pinned : MemoryKind::device;
    Memory send(kind, count * sizeof(unsigned), world.rank % gpu_count());
    Memory receive(kind, count * sizeof(unsigned), world.rank % gpu_count());
    const std::vector<unsigned> own(count, static_cast<unsigned>(world.rank + 1));
    send.write(0, own.data(), count * sizeof(unsigned));
    cudaSetDevice(world.rank % gpu_count());
    const int code = [&] {
      std::optional<BusyGpu> work;
      if (is_busy && round % 2 == 1) work.emplace();
      return MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), MPI_UNSIGNED, MPI_SUM,
                           MPI_COMM_WORLD);
    }();
    EXPECT_EQ(code, MPI_SUCCESS);
    std::vector<unsigned> seen(count);
    receive.read(0, seen.data(), count * sizeof(unsigned));
    const auto ranks = static_cast<unsigned>(world.size);
    EXPECT_EQ(differences(seen, std::vector<unsigned>(count, ranks * (ranks + 1) / 2)), 0u);
  }
}

#if PENSTOCK_HAS_MPI_4
/// What runs may wait for what follows the start: the vector is brought to the result's memory later.
TEST(MixedReductions, that_are_started_do_not_wait_for_a_busy_GPU) {
  const World world;
  constexpr std::size_t count = 50'000;
  cudaSetDevice(world.rank % gpu_count());
  Memory send(MemoryKind::pinned, count * sizeof(unsigned), world.rank % gpu_count());
  Memory receive(MemoryKind::device, count * sizeof(unsigned), world.rank % gpu_count());
  const std::vector<unsigned> own(count, static_cast<unsigned>(world.rank + 1));
  send.write(0, own.data(), count * sizeof(unsigned));
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(send.data(), receive.data(), static_cast<int>(count), MPI_UNSIGNED, MPI_SUM,
                     MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  {
    BusyGpu work;
    MPI_Start(&request);
    int is_over = 0;
    // however long: the work ends only after these
    for (const double begin_s = MPI_Wtime(); MPI_Wtime() - begin_s < 0.2;)
      MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
    EXPECT_EQ(is_over, 0);
    work.end();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  std::vector<unsigned> seen(count);
  receive.read(0, seen.data(), count * sizeof(unsigned));
  const auto ranks = static_cast<unsigned>(world.size);
  EXPECT_EQ(differences(seen, std::vector<unsigned>(count, ranks * (ranks + 1) / 2)), 0u);
  MPI_Request_free(&request);
}
#endif

/// Run where kernels cannot be launched, which also shows that the GPU is asked to.
TEST(MixedReductions, DISABLED_that_the_GPU_cannot_do_are_an_MPI_error_on_each_rank) {
  constexpr int count = 20'000;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const World world;
  for (const Mixture& mixture : mixtures) {
    SCOPED_TRACE(mixture.name);
    const Kinds kinds = mixture.kinds_of(world.rank);
    const bool is_host_only = !lives_on_device(kinds.send) && !lives_on_device(kinds.receive);
    Memory send(kinds.send, count * sizeof(int), world.rank % gpu_count());
    Memory receive(kinds.receive, count * sizeof(int), world.rank % gpu_count());
    const bool all_are = &mixture == &mixtures.back();
    EXPECT_EQ(
        MPI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, communicator) == MPI_SUCCESS,
        is_host_only && all_are);
  }
  MPI_Comm_free(&communicator);
}

}  // namespace
}  // namespace penstock::test_support
