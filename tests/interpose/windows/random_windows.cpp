// Random one-sided programs: windows, epochs and operations whose result MPI defines, each done on a window
// whose members have memory of all kinds, and on one of host memory, which is the MPI library's. After each
// epoch both must hold the same bytes, as must the origins' buffers.
//   random_windows [--first SEED|date] [--seeds N]
//
// What makes results defined: a window is cut into cells. In each epoch a cell has one role: one origin puts
// into it; anybody gets from it; all accumulate into it by one operation that is exact in any order; or one
// origin does to it what it likes by accumulates, which MPI keeps in order.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "tests/interpose/windows/library_windows.hpp"
#include "tests/support/job_seeds.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using penstock::test_support::Memory;
using penstock::test_support::MemoryKind;
using penstock::test_support::Random;
using penstock::windows::library_makes_windows;

constexpr std::size_t cell_bytes = 256;
constexpr std::size_t arena_bytes = 64 * 1024;
constexpr std::array arena_kinds = {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned,
                                    MemoryKind::managed};

int own_rank = 0;
int rank_count = 0;

/// A predefined type with operations that are exact in any order on the numbers used here.
struct Basic {
  MPI_Datatype type;
  std::size_t bytes;
  std::vector<MPI_Op> operations;
  bool is_integer;
};
const std::vector<Basic>& basics() {
  static const std::vector<Basic> all = {
      {MPI_INT, 4, {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_LAND}, true},
      {MPI_LONG, 8, {MPI_SUM, MPI_BOR, MPI_MIN}, true},
      {MPI_DOUBLE, 8, {MPI_MAX, MPI_MIN}, false},
      {MPI_FLOAT, 4, {MPI_MAX, MPI_MIN}, false},
      {MPI_SHORT, 2, {MPI_SUM, MPI_BAND}, true},
      {MPI_UNSIGNED_CHAR, 1, {MPI_BXOR, MPI_SUM}, true},
      {MPI_2INT, 8, {MPI_MINLOC, MPI_MAXLOC}, false},
  };
  return all;
}

/// How elements lie: `count` of `type`, which spans at most a cell.
struct Shape {
  enum class Kind { plain, vector, indexed } kind = Kind::plain;
  int elements = 1;
  int block = 1;
  int stride = 1;
  std::vector<int> places;  ///< of blocks
};
Shape draw_shape(Random& random, int elements, int room) {
  Shape shape;
  shape.elements = elements;
  const int which = random.between(0, 2);
  if (which == 1) {
    for (int block = random.between(1, 4); block > 0; --block) {
      if (elements % block != 0) continue;
      const int blocks = elements / block;
      const int most = blocks == 1 ? block : (room - block) / (blocks - 1);
      if (most < block) break;
      shape = {Shape::Kind::vector, elements, block, random.between(block, most), {}};
      break;
    }
  } else if (which == 2) {
    // blocks of two or one, in any order
    const int block = elements % 2 == 0 ? random.between(1, 2) : 1;
    std::vector<int> slots(static_cast<std::size_t>(room / block));
    std::iota(slots.begin(), slots.end(), 0);
    for (std::size_t i = slots.size(); i > 1; --i) std::swap(slots[i - 1], slots[random.below(i)]);
    slots.resize(static_cast<std::size_t>(elements / block));
    for (int& slot : slots) slot *= block;
    shape = {Shape::Kind::indexed, elements, block, 0, slots};
  }
  return shape;
}

/// A datatype with its count.
class Typed {
 public:
  Typed(const Shape& shape, MPI_Datatype basic) : type_(basic), count_(shape.elements) {
    if (shape.kind == Shape::Kind::plain) return;
    count_ = 1;
    is_made_ = true;
    if (shape.kind == Shape::Kind::vector) {
      MPI_Type_vector(shape.elements / shape.block, shape.block, shape.stride, basic, &type_);
    } else {
      MPI_Type_create_indexed_block(static_cast<int>(shape.places.size()), shape.block, shape.places.data(),
                                    basic, &type_);
    }
    MPI_Type_commit(&type_);
  }
  ~Typed() {
    if (is_made_) MPI_Type_free(&type_);
  }
  Typed(const Typed&) = delete;
  Typed& operator=(const Typed&) = delete;
  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int count() const { return count_; }

 private:
  MPI_Datatype type_;
  int count_;
  bool is_made_ = false;
};

enum class Call { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap };

struct Operation {
  int origin = 0;
  int target = 0;
  std::size_t cell = 0;
  Call call = Call::put;
  std::size_t basic = 0;
  std::size_t operation = 0;  ///< of the basic's; beyond: MPI_REPLACE, MPI_NO_OP
  Shape origin_shape;
  Shape target_shape;
  std::size_t arena = 0;
  std::size_t offset = 0;  ///< of three places of a cell each
  bool has_request = false;
  bool is_flushed = false;  ///< where the epoch allows it
  bool is_waited_for_late = false;

  [[nodiscard]] MPI_Op mpi_operation() const {
    const auto& known = basics()[basic].operations;
    if (operation < known.size()) return known[operation];
    return operation == known.size() ? MPI_REPLACE : MPI_NO_OP;
  }
};

enum class Sync { fence, lock, lock_all, group };
struct Epoch {
  Sync sync = Sync::fence;
  std::vector<Operation> operations;
  std::vector<int> lock_kinds;  ///< of each origin and target
  std::uint64_t local_seed = 0;
};
struct Program {
  std::vector<std::size_t> cells;  ///< of each rank
  std::vector<MemoryKind> kinds;
  std::vector<int> units;
  std::vector<Epoch> epochs;
};

Operation draw_operation(Random& random, Call call, std::size_t basic, std::size_t operation) {
  Operation drawn;
  drawn.call = call;
  drawn.basic = basic;
  drawn.operation = operation;
  const int room = static_cast<int>(cell_bytes / basics()[basic].bytes);
  const bool is_one = call == Call::fetch_and_op || call == Call::compare_and_swap;
  const int elements = is_one ? 1 : random.between(1, room);
  drawn.origin_shape = is_one ? Shape{} : draw_shape(random, elements, room);
  drawn.target_shape = is_one ? Shape{} : draw_shape(random, elements, room);
  drawn.arena = random.below(arena_kinds.size());
  drawn.has_request = !is_one && random.chance(30);
  drawn.is_flushed = random.chance(30);
  drawn.is_waited_for_late = random.chance(50);
  return drawn;
}

Epoch draw_epoch(Random& random, const Program& program) {
  Epoch epoch;
  epoch.sync = static_cast<Sync>(random.below(4));
  epoch.local_seed = random.next();
  for (int i = 0; i < rank_count * rank_count; ++i)
    epoch.lock_kinds.push_back(random.chance(50) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
  const bool may_request = epoch.sync == Sync::lock || epoch.sync == Sync::lock_all;
  for (int target = 0; target < rank_count; ++target) {
    for (std::size_t cell = 0; cell < program.cells[static_cast<std::size_t>(target)]; ++cell) {
      const int role = random.between(0, 5);
      const int owner = random.between(0, rank_count - 1);
      const std::size_t basic = random.below(basics().size());
      const auto add = [&](int origin, Call call, std::size_t operation) -> Operation& {
        Operation drawn = draw_operation(random, call, basic, operation);
        drawn.origin = origin;
        drawn.target = target;
        drawn.cell = cell;
        drawn.has_request = drawn.has_request && may_request;
        return epoch.operations.emplace_back(drawn);
      };
      const std::size_t known = basics()[basic].operations.size();
      if (role == 0) {
        add(owner, Call::put, 0);
        if (may_request && random.chance(50)) {
          epoch.operations.back().is_flushed = true;
          add(owner, Call::get, 0);
        }
      } else if (role == 1) {
        for (int origin = 0; origin < rank_count; ++origin) {
          if (random.chance(50)) add(origin, Call::get, 0);
        }
      } else if (role == 2) {
        const std::size_t operation = random.below(known);
        for (int origin = 0; origin < rank_count; ++origin) {
          for (int times = random.between(0, 2); times > 0; --times) add(origin, Call::accumulate, operation);
        }
      } else if (role == 3) {
        constexpr std::array calls = {Call::accumulate, Call::get_accumulate, Call::fetch_and_op,
                                      Call::compare_and_swap};
        for (int times = random.between(1, 4); times > 0; --times) {
          Call call = calls[random.below(calls.size())];
          if (call == Call::compare_and_swap && !basics()[basic].is_integer) call = Call::get_accumulate;
          std::size_t operation = random.below(known + 2);
          // MPI_Accumulate has no MPI_NO_OP worth its while
          if (call == Call::accumulate && operation == known + 1) operation = known;
          add(owner, call, operation);
        }
      }
    }
  }
  // each operation has places of its own in its arena
  std::vector<std::size_t> used(static_cast<std::size_t>(rank_count) * arena_kinds.size());
  std::erase_if(epoch.operations, [&](Operation& operation) {
    std::size_t& next =
        used[static_cast<std::size_t>(operation.origin) * arena_kinds.size() + operation.arena];
    operation.offset = next;
    if (next + 3 * cell_bytes > arena_bytes) return true;
    next += 3 * cell_bytes;
    return false;
  });
  return epoch;
}

Program draw_program(std::uint64_t seed) {
  Random random(seed);
  Program program;
  constexpr std::array kinds = {MemoryKind::device, MemoryKind::device, MemoryKind::pageable,
                                MemoryKind::pinned};
  for (int rank = 0; rank < rank_count; ++rank) {
    program.cells.push_back(random.chance(10) ? 0 : static_cast<std::size_t>(random.between(1, 12)));
    program.kinds.push_back(kinds[random.below(kinds.size())]);
    program.units.push_back(1 << random.between(0, 3));
  }
  const std::size_t on_device = random.below(static_cast<std::size_t>(rank_count));
  if (!library_makes_windows() || random.chance(95)) {  // else perhaps all host memory: origins are staged
    program.kinds[on_device] = MemoryKind::device;
    program.cells[on_device] = std::max<std::size_t>(program.cells[on_device], 1);
  }
  for (int epoch = random.between(1, 5); epoch > 0; --epoch)
    program.epochs.push_back(draw_epoch(random, program));
  return program;
}

/// One of the two: memory of the window, origins' arenas, and the window.
struct Side {
  Memory window_memory;  ///< not for the window of host memory, which the library allocates
  std::byte* base = nullptr;
  std::vector<Memory> arenas;
  MPI_Win window = MPI_WIN_NULL;
};

/// Open MPI 4.1 makes no windows of given host memory over some transports, but allocates them.
Side make_side(const Program& program, bool is_host) {
  const auto own = static_cast<std::size_t>(own_rank);
  Side side;
  const int gpus = penstock::test_support::gpu_count();
  const int device = own_rank % std::max(gpus, 1);
  const std::size_t bytes = program.cells[own] * cell_bytes;
  for (const MemoryKind kind : arena_kinds)
    side.arenas.emplace_back(is_host ? MemoryKind::pageable : kind, arena_bytes, device);
  if (is_host) {
    MPI_Win_allocate(static_cast<MPI_Aint>(bytes), program.units[own], MPI_INFO_NULL, MPI_COMM_WORLD,
                     static_cast<void*>(&side.base), &side.window);
  } else {
    side.window_memory = Memory(program.kinds[own], bytes + 64, device);
    side.base = side.window_memory.data();
    MPI_Win_create(bytes == 0 ? nullptr : side.base, static_cast<MPI_Aint>(bytes), program.units[own],
                   MPI_INFO_NULL, MPI_COMM_WORLD, &side.window);
  }
  return side;
}

/// Small numbers, so that sums are exact and no floating-point number is special, in every basic type. There
/// are few different ones, so that comparisons succeed now and then.
std::vector<std::byte> numbers(std::uint64_t seed, std::size_t bytes) {
  constexpr std::array<std::uint64_t, 4> words = {0, 0x0000000200000001, 0x0100020000030001,
                                                  0x0003000100000002};
  std::vector<std::byte> content(bytes);
  Random random(seed);
  for (std::size_t at = 0; at + 8 <= bytes; at += 8)
    std::memcpy(&content[at], &words[random.below(words.size())], 8);
  return content;
}

void carry_out(const Operation& operation, const Program& program, const Side& side, MPI_Request* request) {
  const Basic& basic = basics()[operation.basic];
  const Typed origin(operation.origin_shape, basic.type);
  const Typed target(operation.target_shape, basic.type);
  std::byte* const base = side.arenas[operation.arena].data() + operation.offset;
  std::byte* const result = base + cell_bytes;
  std::byte* const compared = result + cell_bytes;
  const MPI_Win window = side.window;
  const int to = operation.target;
  const auto place =
      static_cast<MPI_Aint>(operation.cell * cell_bytes) / program.units[static_cast<std::size_t>(to)];
  const MPI_Op how = operation.mpi_operation();
  const bool asks = request != nullptr;
  switch (operation.call) {
    case Call::put:
      asks ? MPI_Rput(base, origin.count(), origin.type(), to, place, target.count(), target.type(), window,
                      request)
           : MPI_Put(base, origin.count(), origin.type(), to, place, target.count(), target.type(), window);
      break;
    case Call::get:
      asks ? MPI_Rget(base, origin.count(), origin.type(), to, place, target.count(), target.type(), window,
                      request)
           : MPI_Get(base, origin.count(), origin.type(), to, place, target.count(), target.type(), window);
      break;
    case Call::accumulate:
      asks ? MPI_Raccumulate(base, origin.count(), origin.type(), to, place, target.count(), target.type(),
                             how, window, request)
           : MPI_Accumulate(base, origin.count(), origin.type(), to, place, target.count(), target.type(),
                            how, window);
      break;
    case Call::get_accumulate:
      asks ? MPI_Rget_accumulate(base, origin.count(), origin.type(), result, origin.count(), origin.type(),
                                 to, place, target.count(), target.type(), how, window, request)
           : MPI_Get_accumulate(base, origin.count(), origin.type(), result, origin.count(), origin.type(),
                                to, place, target.count(), target.type(), how, window);
      break;
    case Call::fetch_and_op:
      MPI_Fetch_and_op(base, result, basic.type, to, place, how, window);
      break;
    case Call::compare_and_swap:
      MPI_Compare_and_swap(base, compared, result, basic.type, to, place, window);
      break;
  }
}

/// Runs one program on both sides, epoch by epoch.
class Run {
 public:
  Run(std::uint64_t seed, const Program& program)
      : seed_(seed), program_(program), sides_{make_side(program, true), make_side(program, false)} {
    const std::size_t bytes = program.cells[static_cast<std::size_t>(own_rank)] * cell_bytes;
    queued_ = Memory(MemoryKind::pinned, std::max<std::size_t>(bytes, 8));
    const auto content = numbers(seed + 1, bytes);
    if (bytes != 0) std::memcpy(sides_[0].base, content.data(), bytes);
    sides_[1].window_memory.write(0, content.data(), bytes);
  }
  ~Run() {
    for (Side& side : sides_) MPI_Win_free(&side.window);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Returns whether both sides agree on this rank.
  [[nodiscard]] bool run() {
    for (std::size_t i = 0; i < program_.epochs.size(); ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      run(program_.epochs[i]);
      MPI_Barrier(MPI_COMM_WORLD);
      if (!agree(i)) return false;
    }
    return true;
  }

 private:
  void run(const Epoch& epoch) {
    fill_arenas(epoch.local_seed);
    const bool locks = epoch.sync == Sync::lock || epoch.sync == Sync::lock_all;
    if (locks) {
      for (Side& side : sides_) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, own_rank, 0, side.window);
    }
    store(epoch.local_seed);
    if (locks) {
      for (Side& side : sides_) MPI_Win_unlock(own_rank, side.window);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    switch (epoch.sync) {
      case Sync::fence:
        for (Side& side : sides_) MPI_Win_fence(MPI_MODE_NOPRECEDE, side.window);
        carry_out_all(epoch, -1);
        for (Side& side : sides_) MPI_Win_fence(MPI_MODE_NOSUCCEED, side.window);
        break;
      case Sync::lock:
        for (int target = 0; target < rank_count; ++target) {
          const int kind = epoch.lock_kinds[static_cast<std::size_t>(own_rank * rank_count + target)];
          for (Side& side : sides_) MPI_Win_lock(kind, target, 0, side.window);
          carry_out_all(epoch, target);
          for (Side& side : sides_) MPI_Win_unlock(target, side.window);
        }
        break;
      case Sync::lock_all:
        for (Side& side : sides_) MPI_Win_lock_all(0, side.window);
        carry_out_all(epoch, -1);
        for (Side& side : sides_) MPI_Win_unlock_all(side.window);
        break;
      case Sync::group:
        run_among_groups(epoch);
        break;
    }
  }

  void run_among_groups(const Epoch& epoch) {
    std::vector<int> targets;
    std::vector<int> origins;
    for (int other = 0; other < rank_count; ++other) {
      const auto meets = [&](int origin, int target) {
        return std::ranges::any_of(epoch.operations, [&](const Operation& operation) {
          return operation.origin == origin && operation.target == target;
        });
      };
      if (meets(own_rank, other)) targets.push_back(other);
      if (meets(other, own_rank)) origins.push_back(other);
    }
    MPI_Group world = MPI_GROUP_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group to = MPI_GROUP_EMPTY;
    MPI_Group from = MPI_GROUP_EMPTY;
    if (!targets.empty()) MPI_Group_incl(world, static_cast<int>(targets.size()), targets.data(), &to);
    if (!origins.empty()) MPI_Group_incl(world, static_cast<int>(origins.size()), origins.data(), &from);
    for (Side& side : sides_) {
      if (!origins.empty()) MPI_Win_post(from, 0, side.window);
    }
    for (Side& side : sides_) {
      if (!targets.empty()) MPI_Win_start(to, 0, side.window);
    }
    carry_out_all(epoch, -1);
    for (Side& side : sides_) {
      if (!targets.empty()) MPI_Win_complete(side.window);
    }
    for (Side& side : sides_) {
      if (!origins.empty()) MPI_Win_wait(side.window);
    }
    if (!targets.empty()) MPI_Group_free(&to);
    if (!origins.empty()) MPI_Group_free(&from);
    MPI_Group_free(&world);
  }

  void carry_out_all(const Epoch& epoch, int only_target) {
    std::vector<MPI_Request> requests;
    for (const Operation& operation : epoch.operations) {
      if (operation.origin != own_rank || (only_target >= 0 && operation.target != only_target)) continue;
      for (Side& side : sides_) {
        MPI_Request request = MPI_REQUEST_NULL;
        carry_out(operation, program_, side, operation.has_request ? &request : nullptr);
        if (operation.has_request && operation.is_waited_for_late) requests.push_back(request);
        if (operation.has_request && !operation.is_waited_for_late) MPI_Wait(&request, MPI_STATUS_IGNORE);
        const bool may_flush = epoch.sync == Sync::lock || epoch.sync == Sync::lock_all;
        if (operation.is_flushed && may_flush) MPI_Win_flush(operation.target, side.window);
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  void fill_arenas(std::uint64_t seed) {
    const auto content = numbers(seed + static_cast<std::uint64_t>(own_rank), arena_bytes);
    for (Side& side : sides_) {
      for (Memory& arena : side.arenas) arena.write(0, content.data(), content.size());
    }
  }

  /// Changes some of the own cells, on the GPU by work that is only queued when the next call begins.
  void store(std::uint64_t seed) {
    Random random(seed + 1000 + static_cast<std::uint64_t>(own_rank));
    for (std::size_t cell = 0; cell < program_.cells[static_cast<std::size_t>(own_rank)]; ++cell) {
      if (!random.chance(30)) continue;
      const std::size_t at = cell * cell_bytes;
      const auto content = numbers(random.next(), cell_bytes);
      std::memcpy(sides_[0].base + at, content.data(), cell_bytes);
      queued_.write(at, content.data(), cell_bytes);
      sides_[1].window_memory.write_in_stream_order(at, queued_.data() + at, cell_bytes);
    }
  }

  [[nodiscard]] bool agree(std::size_t epoch) {
    const std::size_t bytes = program_.cells[static_cast<std::size_t>(own_rank)] * cell_bytes;
    bool same = agree(epoch, "the window", sides_[0].base, sides_[1].window_memory, bytes);
    for (std::size_t i = 0; i < arena_kinds.size(); ++i) {
      same = agree(epoch, penstock::test_support::name_of(arena_kinds[i]), sides_[0].arenas[i].data(),
                   sides_[1].arenas[i], arena_bytes) &&
             same;
    }
    return same;
  }
  [[nodiscard]] bool agree(std::size_t epoch, const char* what, const std::byte* expected,
                           const Memory& found, std::size_t bytes) const {
    const std::vector<std::byte> a(expected, expected + bytes);
    std::vector<std::byte> b(bytes);
    found.read(0, b.data(), bytes);
    const auto [at, other] = std::ranges::mismatch(a, b);
    if (at == a.end()) return true;
    const auto place = static_cast<std::size_t>(at - a.begin());
    std::printf(
        "FAILED seed %llu: rank %d, epoch %zu (synchronisation %d): %s differs at byte %zu (cell %zu)\n",
        static_cast<unsigned long long>(seed_), own_rank, epoch,
        static_cast<int>(program_.epochs[epoch].sync), what, place, place / cell_bytes);
    for (const Operation& operation : program_.epochs[epoch].operations) {
      const bool is_there = what == std::string_view("the window")
                                ? operation.target == own_rank && operation.cell == place / cell_bytes
                                : operation.origin == own_rank && operation.offset <= place &&
                                      place < operation.offset + 3 * cell_bytes;
      if (!is_there) continue;
      std::printf(
          "  rank %d, call %d, basic type %zu, operation %zu, %d elements, target %d, cell %zu, arena %zu\n",
          operation.origin, static_cast<int>(operation.call), operation.basic, operation.operation,
          operation.origin_shape.elements, operation.target, operation.cell, operation.arena);
    }
    std::fflush(stdout);
    return false;
  }

  std::uint64_t seed_;
  const Program& program_;
  std::array<Side, 2> sides_;
  Memory queued_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  const auto seeds = penstock::test_support::seeds_of_job(argc, argv);
  static_cast<void>(library_makes_windows());  // all ranks come to it here
  penstock::test_support::watch(own_rank, 60);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    penstock::test_support::progress("seed %llu", static_cast<unsigned long long>(seed));
    const Program program = draw_program(seed);
    Run run(seed, program);
    if (!run.run()) MPI_Abort(MPI_COMM_WORLD, 1);
    if (own_rank == 0 && (seed + 1 - seeds.first) % 50 == 0) {
      std::printf("%llu seeds done\n", static_cast<unsigned long long>(seed + 1 - seeds.first));
      std::fflush(stdout);
    }
  }
  MPI_Finalize();
  return 0;
}
