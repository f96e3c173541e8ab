// Random one-sided programs: windows, epochs and operations whose result MPI defines, each done on a window
// whose members have memory of all kinds, and on one of host memory, which is the MPI library's. After each
// epoch both must hold the same bytes, as must the origins' buffers.
//   random_windows [--separate] [--first SEED|date] [--seeds N]
// --separate: the MPI library makes the windows of device memory, too (members on several nodes).
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "tests/interpose/windows/library_windows.hpp"
#include "tests/interpose/windows/random_program.hpp"
#include "tests/interpose/windows/random_sides.hpp"
#include "tests/support/job_seeds.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"
#include "tests/support/watchdog.hpp"

namespace {

using namespace penstock::windows;
using penstock::test_support::Memory;
using penstock::test_support::Random;

int own_rank = 0;
int rank_count = 0;

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

/// Returns the displacement at the target: of a dynamic window, an address.
MPI_Aint place_of(const Operation& operation, const Program& program, const WindowSide& side) {
  const auto bytes = static_cast<MPI_Aint>(operation.cell * program.cell_bytes + operation.part);
  const auto target = static_cast<std::size_t>(operation.target);
  return side.bases.empty() ? bytes / program.windows[operation.window].units[target]
                            : MPI_Aint_add(side.bases[target], bytes);
}

void carry_out(const Operation& operation, const Program& program, const Side& side, MPI_Request* request) {
  const Basic& basic = basics()[operation.basic];
  const Typed origin(operation.origin_shape, basic.type);
  const Typed target(operation.target_shape, basic.type);
  std::byte* const base = side.arenas[operation.arena].data() + operation.offset + operation.part;
  std::byte* const result = base + program.cell_bytes;
  std::byte* const compared = result + program.cell_bytes;
  const MPI_Win window = side.windows[operation.window].window;
  const int to = operation.target;
  const MPI_Aint place = place_of(operation, program, side.windows[operation.window]);
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

void flush(const Operation& operation, MPI_Win window) {
  if (operation.flush == Flush::target) MPI_Win_flush(operation.target, window);
  if (operation.flush == Flush::all) MPI_Win_flush_all(window);
  if (operation.flush == Flush::target_local) MPI_Win_flush_local(operation.target, window);
  if (operation.flush == Flush::all_local) MPI_Win_flush_local_all(window);
}

/// Runs one program on both sides, epoch by epoch.
class Run {
 public:
  Run(std::uint64_t seed, const Program& program)
      : seed_(seed),
        program_(program),
        sides_{make_side(program, own_rank, true), make_side(program, own_rank, false)} {
    std::size_t most = 8;
    for (std::size_t i = 0; i < program.windows.size(); ++i) {
      const std::size_t bytes = own_bytes(program, i, own_rank);
      const auto content = numbers(seed + 1 + i, bytes);
      if (bytes != 0) std::memcpy(sides_[0].windows[i].base, content.data(), bytes);
      sides_[1].windows[i].memory.write(0, content.data(), bytes);
      most = std::max(most, bytes);
    }
    if (program.is_separate) check_models();
    for (std::size_t i = 0; i < program.windows.size(); ++i) queued_.emplace_back(MemoryKind::pinned, most);
  }
  ~Run() {
    for_each_window([](MPI_Win& window) { MPI_Win_free(&window); });
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Returns whether both sides agree on this rank.
  [[nodiscard]] bool run() {
    for (std::size_t i = 0; i < program_.epochs.size(); ++i) {
      attach_anew(sides_[1], program_, own_rank, program_.epochs[i].attaching_seed);
      MPI_Barrier(MPI_COMM_WORLD);
      run(program_.epochs[i]);
      MPI_Barrier(MPI_COMM_WORLD);
      if (program_.is_separate && can_be_flushed(program_.epochs[i].sync)) look_at_own_memory();
      if (!agree(i)) return false;
    }
    return true;
  }

 private:
  template <typename Do>
  void for_each_window(Do act) {
    for (Side& side : sides_) {
      for (WindowSide& each : side.windows) act(each.window);
    }
  }

  /// The job must be one in which the library makes the windows.
  void check_models() const {
    for (std::size_t i = 0; i < program_.windows.size(); ++i) {
      int* model = nullptr;
      int is_there = 0;
      MPI_Win_get_attr(sides_[1].windows[i].window, MPI_WIN_MODEL, static_cast<void*>(&model), &is_there);
      const bool is_on_device = penstock::test_support::lives_on_device(sides_[1].windows[i].memory.kind()) &&
                                own_bytes(program_, i, own_rank) != 0;
      if (!is_on_device || (is_there != 0 && *model == MPI_WIN_SEPARATE)) continue;
      std::printf("FAILED rank %d: a window of device memory is not separate\n", own_rank);
      std::fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }

  /// As a target of MPI's separate memory model must, if it has taken no part.
  void look_at_own_memory() {
    for_each_window([](MPI_Win window) {
      MPI_Win_lock(MPI_LOCK_SHARED, own_rank, 0, window);
      MPI_Win_unlock(own_rank, window);
    });
  }

  void run(const Epoch& epoch) {
    fill_arenas(epoch.local_seed);
    const bool locks = can_be_flushed(epoch.sync);
    if (locks) for_each_window([](MPI_Win window) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, own_rank, 0, window); });
    store(epoch.local_seed);
    if (locks) {
      for_each_window([](MPI_Win window) { MPI_Win_unlock(own_rank, window); });
      MPI_Barrier(MPI_COMM_WORLD);
    }
    switch (epoch.sync) {
      case Sync::fence:
        for_each_window([](MPI_Win window) { MPI_Win_fence(MPI_MODE_NOPRECEDE, window); });
        carry_out_all(epoch, -1);
        for_each_window([](MPI_Win window) { MPI_Win_fence(MPI_MODE_NOSUCCEED, window); });
        break;
      case Sync::lock:
        for (int target = 0; target < rank_count; ++target) {
          const int kind = epoch.lock_kinds[static_cast<std::size_t>(own_rank * rank_count + target)];
          for_each_window([&](MPI_Win window) { MPI_Win_lock(kind, target, 0, window); });
          carry_out_all(epoch, target);
          for_each_window([&](MPI_Win window) { MPI_Win_unlock(target, window); });
        }
        break;
      case Sync::locks:
        for_each_window([](MPI_Win window) {
          for (int target = 0; target < rank_count; ++target)
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
        });
        carry_out_all(epoch, -1);
        for_each_window([](MPI_Win window) {
          for (int target = 0; target < rank_count; ++target) MPI_Win_unlock(target, window);
        });
        break;
      case Sync::lock_all:
        for_each_window([](MPI_Win window) { MPI_Win_lock_all(0, window); });
        carry_out_all(epoch, -1);
        for_each_window([](MPI_Win window) { MPI_Win_unlock_all(window); });
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
    if (!origins.empty()) for_each_window([&](MPI_Win window) { MPI_Win_post(from, 0, window); });
    if (!targets.empty()) for_each_window([&](MPI_Win window) { MPI_Win_start(to, 0, window); });
    carry_out_all(epoch, -1);
    if (!targets.empty()) for_each_window([](MPI_Win window) { MPI_Win_complete(window); });
    if (!origins.empty()) for_each_window([](MPI_Win window) { MPI_Win_wait(window); });
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
        if (can_be_flushed(epoch.sync)) flush(operation, side.windows[operation.window].window);
      }
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  void fill_arenas(std::uint64_t seed) {
    const auto content = numbers(seed + static_cast<std::uint64_t>(own_rank), program_.arena_bytes);
    for (Side& side : sides_) {
      for (Memory& arena : side.arenas) arena.write(0, content.data(), content.size());
    }
  }

  /// Changes some of the own cells, on the GPU by work that is only queued when the next call begins.
  void store(std::uint64_t seed) {
    Random random(seed + 1000 + static_cast<std::uint64_t>(own_rank));
    const std::size_t cell_bytes = program_.cell_bytes;
    for (std::size_t i = 0; i < program_.windows.size(); ++i) {
      for (std::size_t at = 0; at < own_bytes(program_, i, own_rank); at += cell_bytes) {
        if (!random.chance(30)) continue;
        const auto content = numbers(random.next(), cell_bytes);
        std::memcpy(sides_[0].windows[i].base + at, content.data(), cell_bytes);
        queued_[i].write(at, content.data(), cell_bytes);
        sides_[1].windows[i].memory.write_in_stream_order(at, queued_[i].data() + at, cell_bytes);
      }
    }
  }

  [[nodiscard]] bool agree(std::size_t epoch) {
    bool same = true;
    for (std::size_t i = 0; i < program_.windows.size(); ++i) {
      same = agree(epoch, i == 0 ? "the window" : "the second window", sides_[0].windows[i].base,
                   sides_[1].windows[i].memory, own_bytes(program_, i, own_rank), static_cast<int>(i)) &&
             same;
    }
    for (std::size_t i = 0; i < arena_kinds.size(); ++i) {
      same = agree(epoch, penstock::test_support::name_of(arena_kinds[i]), sides_[0].arenas[i].data(),
                   sides_[1].arenas[i], program_.arena_bytes, -1) &&
             same;
    }
    return same;
  }
  /// `window`: -1 for an arena.
  [[nodiscard]] bool agree(std::size_t epoch, const char* what, const std::byte* expected,
                           const Memory& found, std::size_t bytes, int window) const {
    const std::vector<std::byte> a(expected, expected + bytes);
    std::vector<std::byte> b(bytes);
    found.read(0, b.data(), bytes);
    const auto [at, other] = std::ranges::mismatch(a, b);
    if (at == a.end()) return true;
    const auto place = static_cast<std::size_t>(at - a.begin());
    std::printf(
        "FAILED seed %llu: rank %d, epoch %zu (synchronisation %d): %s differs at byte %zu (cell %zu), %d "
        "for "
        "%d\n",
        static_cast<unsigned long long>(seed_), own_rank, epoch,
        static_cast<int>(program_.epochs[epoch].sync), what, place, place / program_.cell_bytes,
        std::to_integer<int>(b[place]), std::to_integer<int>(a[place]));
    for (const Operation& operation : program_.epochs[epoch].operations) {
      const bool is_there = window >= 0 ? operation.target == own_rank &&
                                              operation.window == static_cast<std::size_t>(window) &&
                                              operation.cell == place / program_.cell_bytes
                                        : operation.origin == own_rank && operation.offset <= place &&
                                              place < operation.offset + 3 * program_.cell_bytes;
      if (!is_there) continue;
      std::printf(
          "  rank %d, call %d, basic type %zu, operation %zu, %d elements (shapes %d, %d) from byte %zu on, "
          "target "
          "%d, window %zu, cell %zu, arena %zu, flush %d%s\n",
          operation.origin, static_cast<int>(operation.call), operation.basic, operation.operation,
          operation.origin_shape.elements, static_cast<int>(operation.origin_shape.kind),
          static_cast<int>(operation.target_shape.kind), operation.part, operation.target, operation.window,
          operation.cell, operation.arena, static_cast<int>(operation.flush),
          !operation.has_request         ? ""
          : operation.is_waited_for_late ? ", waited for late"
                                         : ", waited for");
    }
    std::fflush(stdout);
    return false;
  }

  std::uint64_t seed_;
  const Program& program_;
  std::array<Side, 2> sides_;
  std::vector<Memory> queued_;  ///< of each window
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  const auto seeds = penstock::test_support::seeds_of_job(argc, argv);
  const bool is_separate =
      std::any_of(argv + 1, argv + argc, [](std::string_view each) { return each == "--separate"; });
  const Makers makers{.library = library_makes_windows(), .separate = is_separate};
  if (is_separate && !makers.library) {
    if (own_rank == 0) std::puts("left out: this MPI makes no windows here");
    MPI_Finalize();
    return 0;
  }
  penstock::test_support::watch(own_rank, 60);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    penstock::test_support::progress("seed %llu", static_cast<unsigned long long>(seed));
    const Program program = draw_program(seed, rank_count, makers);
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
