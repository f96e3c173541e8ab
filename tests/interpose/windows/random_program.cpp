#include "tests/interpose/windows/random_program.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "tests/support/random.hpp"

namespace penstock::windows {
namespace {

using test_support::Random;

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

template <typename T>
void shuffle(Random& random, std::vector<T>& all) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random.below(i)]);
}

/// Returns whether the MPI library makes the window.
bool is_all_on_host(const WindowShape& window) {
  if (window.is_dynamic) return false;
  for (std::size_t rank = 0; rank < window.cells.size(); ++rank) {
    if (window.cells[rank] != 0 && test_support::lives_on_device(window.kinds[rank])) return false;
  }
  return true;
}

/// Draws the operations of one epoch.
class EpochDraw {
 public:
  EpochDraw(Random& random, const Program& program, int ranks)
      : random_(random), program_(program), ranks_(ranks) {}

  [[nodiscard]] Epoch draw() {
    epoch_.sync = static_cast<Sync>(random_.below(5));
    // MPICH 4.0.2 loses gets if groups synchronise on two windows at a time
    if (program_.is_separate && epoch_.sync == Sync::group) epoch_.sync = Sync::fence;
    epoch_.local_seed = random_.next();
    for (int i = 0; i < ranks_ * ranks_; ++i)
      epoch_.lock_kinds.push_back(random_.chance(50) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE);
    for (std::size_t window = 0; window < program_.windows.size(); ++window) {
      for (int target = 0; target < ranks_; ++target) {
        const std::size_t cells = program_.windows[window].cells[static_cast<std::size_t>(target)];
        for (std::size_t cell = 0; cell < cells; ++cell) draw_cell(window, target, cell);
      }
    }
    if (random_.chance(50)) mix_cells();
    place_all();
    return std::move(epoch_);
  }

 private:
  /// Neither flushes nor requests on windows of the MPI library: MPICH 4.0.2 completes some before it has
  /// read, or written, the origin's buffer.
  [[nodiscard]] bool can_flush() const {
    return can_be_flushed(epoch_.sync) && !program_.is_separate &&
           !is_all_on_host(program_.windows[cell_.window]);
  }

  void draw_cell(std::size_t window, int target, std::size_t cell) {
    const int role = random_.between(0, 7);
    const int owner = random_.between(0, ranks_ - 1);
    cell_ = {};
    cell_.window = window;
    cell_.target = target;
    cell_.cell = cell;
    cell_.basic = random_.below(basics().size());
    const std::size_t known = basics()[cell_.basic].operations.size();
    switch (role) {
      case 0:
        add(owner, Call::put, 0);
        if (can_flush() && random_.chance(50)) {
          flush_at_target();
          add(owner, Call::get, 0);
        }
        break;
      case 1:
        for (int origin = 0; origin < ranks_; ++origin) {
          if (random_.chance(50)) add(origin, Call::get, 0);
        }
        break;
      case 2: {
        const std::size_t operation = random_.below(known);
        for (int origin = 0; origin < ranks_; ++origin) {
          for (int times = random_.between(0, 2); times > 0; --times)
            add(origin, Call::accumulate, operation);
        }
        break;
      }
      case 3:
        accumulate_in_order(owner, known);
        break;
      case 4:
      case 5:
        add_pieces(owner, Call::put);
        if (can_flush() && random_.chance(30)) {
          flush_at_target();
          add_pieces(owner, Call::get);
        }
        break;
      case 6:
        for (int origin = 0; origin < ranks_; ++origin) {
          if (random_.chance(50)) add_pieces(origin, Call::get);
        }
        break;
      default:
        break;
    }
  }

  void accumulate_in_order(int owner, std::size_t known) {
    constexpr std::array calls = {Call::accumulate, Call::get_accumulate, Call::fetch_and_op,
                                  Call::compare_and_swap};
    for (int times = random_.between(1, 4); times > 0; --times) {
      Call call = calls[random_.below(calls.size())];
      if (call == Call::compare_and_swap && !basics()[cell_.basic].is_integer) call = Call::get_accumulate;
      std::size_t operation = random_.below(known + 2);
      // MPI_Accumulate has no MPI_NO_OP worth its while
      if (call == Call::accumulate && operation == known + 1) operation = known;
      add(owner, call, operation);
    }
  }

  Operation& add(int origin, Call call, std::size_t operation) {
    const int room = static_cast<int>(program_.cell_bytes / basics()[cell_.basic].bytes);
    const bool is_one = call == Call::fetch_and_op || call == Call::compare_and_swap;
    const int elements = is_one ? 1 : random_.between(1, room);
    Operation& added = add_call(origin, call);
    added.operation = operation;
    added.origin_shape = is_one ? Shape{} : draw_shape(random_, elements, room);
    added.target_shape = is_one ? Shape{} : draw_shape(random_, elements, room);
    added.has_request = added.has_request && !is_one;
    return added;
  }

  Operation& add_call(int origin, Call call) {
    constexpr std::array flushes = {Flush::target, Flush::all, Flush::target_local, Flush::all_local};
    Operation& added = epoch_.operations.emplace_back(cell_);
    added.origin = origin;
    added.call = call;
    added.arena = random_.below(arena_kinds.size());
    added.place = next_place_++;
    added.has_request = can_flush() && random_.chance(30);
    if (can_flush() && random_.chance(30)) added.flush = flushes[random_.below(flushes.size())];
    added.is_waited_for_late = random_.chance(50);
    return added;
  }

  /// Many calls of few bytes, in order or not, mostly without gaps; from neighbouring memory, as a halo's.
  void add_pieces(int origin, Call call) {
    constexpr std::size_t grain = 8;  // a multiple of all units and basic types
    const auto pieces = static_cast<std::size_t>(random_.between(2, 24));
    const std::size_t bytes = program_.cell_bytes / pieces / grain * grain;
    if (bytes == 0) return;
    std::vector<std::size_t> order(pieces);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (random_.chance(40)) shuffle(random_, order);
    const bool has_gaps = random_.chance(30);
    const bool is_hasty = random_.chance(70);  // neither requests nor flushes
    std::optional<std::pair<std::size_t, std::size_t>> shared;
    for (const std::size_t piece : order) {
      Operation& added = add_call(origin, call);
      if (!shared) shared = {added.arena, added.place};
      std::tie(added.arena, added.place) = *shared;
      added.part = piece * bytes;
      const auto elements = static_cast<int>(bytes / basics()[cell_.basic].bytes);
      added.origin_shape.elements = has_gaps ? std::max(elements / 2, 1) : elements;
      added.target_shape = added.origin_shape;
      if (!is_hasty) continue;
      added.has_request = false;
      added.flush = Flush::none;
    }
  }

  void flush_at_target() { epoch_.operations.back().flush = random_.chance(50) ? Flush::target : Flush::all; }

  /// Mixes operations on different cells; those on one keep their order.
  void mix_cells() {
    std::map<std::tuple<std::size_t, int, std::size_t>, std::vector<Operation>> of_cells;
    for (Operation& operation : epoch_.operations)
      of_cells[{operation.window, operation.target, operation.cell}].push_back(std::move(operation));
    std::vector<std::vector<Operation>*> turns;
    for (auto& [cell, operations] : of_cells) turns.insert(turns.end(), operations.size(), &operations);
    shuffle(random_, turns);
    epoch_.operations.clear();
    std::map<const std::vector<Operation>*, std::size_t> next;
    for (std::vector<Operation>* operations : turns)
      epoch_.operations.push_back(std::move((*operations)[next[operations]++]));
  }

  /// Gives each operation, or those that share them, places of its own in its arena. Some find no room.
  void place_all() {
    std::vector<std::size_t> used(static_cast<std::size_t>(ranks_) * arena_kinds.size());
    std::map<std::size_t, std::size_t> offsets;
    std::erase_if(epoch_.operations, [&](Operation& operation) {
      std::size_t& next =
          used[static_cast<std::size_t>(operation.origin) * arena_kinds.size() + operation.arena];
      const auto [known, is_new] = offsets.emplace(operation.place, next);
      operation.offset = known->second;
      if (is_new) next += 3 * program_.cell_bytes;
      return operation.offset + 3 * program_.cell_bytes > program_.arena_bytes;
    });
  }

  Random& random_;
  const Program& program_;
  const int ranks_;
  Epoch epoch_;
  Operation cell_;  ///< what all operations on the cell have in common
  std::size_t next_place_ = 0;
};

WindowShape draw_window(Random& random, int ranks, int most_cells, bool may_be_on_host) {
  constexpr std::array kinds = {MemoryKind::device, MemoryKind::device, MemoryKind::pageable,
                                MemoryKind::pinned};
  WindowShape window;
  for (int rank = 0; rank < ranks; ++rank) {
    window.cells.push_back(random.chance(10) ? 0 : static_cast<std::size_t>(random.between(1, most_cells)));
    window.kinds.push_back(kinds[random.below(kinds.size())]);
    window.units.push_back(1 << random.between(0, 3));
  }
  const std::size_t on_device = random.below(static_cast<std::size_t>(ranks));
  if (!may_be_on_host || random.chance(95)) {  // else perhaps all host memory: origins are staged
    window.kinds[on_device] = MemoryKind::device;
    window.cells[on_device] = std::max<std::size_t>(window.cells[on_device], 1);
  }
  return window;
}

}  // namespace

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

MPI_Op Operation::mpi_operation() const {
  const auto& known = basics()[basic].operations;
  if (operation < known.size()) return known[operation];
  return operation == known.size() ? MPI_REPLACE : MPI_NO_OP;
}

Program draw_program(std::uint64_t seed, int ranks, const Makers& makers) {
  Random random(seed);
  Program program;
  program.is_separate = makers.separate;
  int most_cells = random.chance(20) ? 40 : 12;
  if (random.chance(20)) {
    program.cell_bytes = 4096;
  } else if (random.chance(6)) {
    program.cell_bytes = 96 * 1024;  // some accesses are too large to wait for others
    most_cells = 3;
  }
  program.arena_bytes = std::max<std::size_t>(64 * 1024, 3 * program.cell_bytes * 6);
  for (int windows = random.chance(25) ? 2 : 1; windows > 0; --windows)
    program.windows.push_back(draw_window(random, ranks, most_cells, makers.library));
  Random attaching(~seed);  // programs without dynamic windows are as they were before there were any
  for (WindowShape& window : program.windows) window.is_dynamic = !makers.separate && attaching.chance(30);
  Random allocating(seed ^ 0x5555U);
  for (WindowShape& window : program.windows)
    window.is_allocated = !window.is_dynamic && allocating.chance(25);
  for (int epoch = random.between(1, 5); epoch > 0; --epoch)
    program.epochs.push_back(EpochDraw(random, program, ranks).draw());
  for (Epoch& epoch : program.epochs) epoch.attaching_seed = attaching.next();
  return program;
}

}  // namespace penstock::windows
