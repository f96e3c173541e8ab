#include "examples/particles/step_kernels.hpp"

#include <algorithm>

#include "examples/particles/kernel_tools.hpp"
#include "examples/particles/rounding.hpp"
#include "examples/support/device_algorithms.hpp"

namespace particles {
namespace {

__device__ Vector vector_of(const Place& place, const Box& box) {
  return {place.at[0] * box.unit(0), place.at[1] * box.unit(1), place.at[2] * box.unit(2)};
}

/// Where a particle goes whose velocity is known, without a wall. False if that is too far; infinities and
/// NaN are.
__device__ bool drift(const Mover& mover, const Motion& motion, Place& place) {
  float way[3];
  bool is_slow = true;
  for (int axis = 0; axis < 3; ++axis) {
    way[axis] = motion.velocity[axis] * mover.step * mover.per_unit[axis];
    is_slow = is_slow && fabsf(way[axis]) <= mover.limit[axis];
  }
  if (is_slow) {
    for (int axis = 0; axis < 3; ++axis) {
      place.at[axis] += static_cast<std::uint32_t>(rounded(way[axis]));
    }
  }
  return is_slow;
}

/// Positions near a wall are as exact as others; the wall's answer is rounded to them.
__device__ bool stay_inside(const Wall& wall, const Box& box, const Place& before, Motion& motion,
                            Place& place) {
  if (!wall.has_outside(vector_of(place, box))) {
    return true;
  }
  Path path{vector_of(before, box),
            vector_of(place, box),
            {motion.velocity[0], motion.velocity[1], motion.velocity[2]}};
  bool is_kept = reflect(wall, path);
  const Vector velocity = path.velocity;
  const double to[3] = {path.to.x, path.to.y, path.to.z};
  for (int axis = 0; axis < 3; ++axis) {
    place.at[axis] = static_cast<std::uint32_t>(static_cast<std::int64_t>(to[axis] / box.unit(axis)));
  }
  if (is_kept && wall.has_outside(vector_of(place, box))) {
    is_kept = false;
  }
  if (!is_kept) {
    for (int axis = 0; axis < 3; ++axis) {
      place.at[axis] = before.at[axis];
    }
  }
  motion.velocity[0] = static_cast<float>(velocity.x);
  motion.velocity[1] = static_cast<float>(velocity.y);
  motion.velocity[2] = static_cast<float>(velocity.z);
  return is_kept;
}

/// The largest speed along an axis, in lengths, if it is a number, else infinity.
__device__ float speed_of(const Motion& motion) {
  float speed = 0;
  for (const float velocity : motion.velocity) {
    const float size = fabsf(velocity);
    speed = size <= speed ? speed : (size < 3e38F ? size : float_of(0x7F800000));
  }
  return speed;
}

/// Keeps the lowest pair of the first step in which there is one.
__device__ void note_too_near(Status* status, std::uint32_t steps, std::uint32_t own, std::uint32_t other) {
  if (other != no_identity && atomicMin(&status->too_near_step, steps) >= steps) {
    atomicMin(&status->too_near, own < other ? pair_word(own, other) : pair_word(other, own));
  }
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void start(Cells cells, Start start, Movers movers, std::uint32_t room, std::uint32_t* count) {
  const std::uint32_t identity = thread_index();
  if (identity >= start.site_count()) {
    return;
  }
  const Place place = start.place_of(identity);
  const std::uint32_t cell = cells.find(place);
  if (cell == no_cell || (!cells.is_internal(cell) && cells.connection(place, cell).owner != mine) ||
      (cells.is_near_wall(cell) && cells.wall(cell).has_outside(vector_of(place, cells.box)))) {
    return;
  }
  const std::uint32_t index = atomicAdd(count, 1U);
  if (index < room) {
    movers.places[index] = place;
    movers.motions[index] = start.motion_of(identity);
    enter(movers, index, cell);
  }
}

__global__ void scatter(Cells cells, Movers movers, std::uint32_t count, Sorted sorted, Sorted rim,
                        Status* status) {
  const std::uint32_t index = thread_index();
  if (index == 0) {
    const Classes& classes = cells.classes;
    status->ends[0] = sorted.starts[classes.deep];
    status->ends[1] = sorted.starts[classes.internal];
    status->ends[2] = sorted.starts[classes.all];
  }
  if (index >= count || movers.cells[index] == no_cell) {
    return;
  }
  const std::uint32_t cell = movers.cells[index];
  const bool is_internal = cells.is_internal(cell);
  const std::uint32_t place =
      sorted.starts[cell] + movers.turns[index] - (is_internal ? 0 : sorted.starts[cells.classes.internal]);
  if (place >= (is_internal ? sorted.room : rim.room)) {
    return;  // the host sees by status->ends that there is no room
  }
  (is_internal ? sorted.places : rim.places)[place] = movers.places[index];
  (is_internal ? sorted.motions : rim.motions)[place] = movers.motions[index];
  (is_internal ? sorted.cells : rim.cells)[place] = cell;
}

template <typename Model>
__global__ void advance(Cells cells, Sorted sorted, std::uint32_t first, std::uint32_t end, Model model,
                        Mover mover, Movers movers, Status* status) {
  const std::uint32_t index = sorted.starts[first] + thread_index();
  if (index >= sorted.starts[end]) {
    return;
  }
  Motion motion = sorted.motions[index];
  if (motion.is_own == 0) {
    movers.cells[index] = no_cell;
    return;
  }
  const Place before = sorted.places[index];
  const std::uint32_t cell = sorted.cells[index];
  Pair::Sum sum{};
  [[maybe_unused]] std::uint32_t touched = no_identity;
  for_each_near(cells, sorted, model, before, cell, [&](const Pair::Separation& near, std::uint32_t other) {
    add_force(sorted, model, near, {before.identity, motion}, other, mover.number, sum);
    if constexpr (Model::has_core) {
      const std::uint32_t identity = sorted.places[other].identity;
      touched = model.is_in_core(near) && identity < touched ? identity : touched;
    }
  });
  if constexpr (Model::has_core) {
    note_too_near(status, mover.steps, before.identity, touched);
  }
  motion.velocity[0] += (model.force_of(sum.x) + mover.body_force[0]) * mover.kick;
  motion.velocity[1] += (model.force_of(sum.y) + mover.body_force[1]) * mover.kick;
  motion.velocity[2] += (model.force_of(sum.z) + mover.body_force[2]) * mover.kick;

  Place place = before;
  if (!drift(mover, motion, place)) {
    atomicMin(&status->too_fast, too_fast_word(mover.steps, place.identity, bits_of(speed_of(motion))));
    motion.velocity[0] = motion.velocity[1] = motion.velocity[2] = 0;  // it must not spread
  }
  movers.places[index] = place;
  movers.motions[index] = motion;
  if (!cells.is_near_wall(cell)) {
    enter(movers, index, cells.find(place));
  }
}

/// Finishes what `advance` has left for those near the wall: its arithmetic would take registers from all
/// others.
__global__ void bounce(Cells cells, Sorted sorted, std::uint32_t first, std::uint32_t end, Movers movers,
                       Status* status) {
  const std::uint32_t index = sorted.starts[first] + thread_index();
  if (index >= sorted.starts[end] || !cells.is_near_wall(sorted.cells[index]) ||
      sorted.motions[index].is_own == 0) {
    return;
  }
  Place place = movers.places[index];
  Motion motion = movers.motions[index];
  if (!stay_inside(cells.wall(sorted.cells[index]), cells.box, sorted.places[index], motion, place)) {
    atomicAdd(&status->put_back, 1U);
  }
  movers.places[index] = place;
  movers.motions[index] = motion;
  enter(movers, index, cells.find(place));
}

}  // namespace kernels

struct Sums::Temporary {
  example::Scratch scratch;
};

Sums::Sums() : temporary_(std::make_unique<Temporary>()) {}
Sums::~Sums() = default;

void Sums::queue(const example::Stream& stream, const std::uint32_t* counts, std::uint32_t* sums,
                 std::uint32_t count) {
  example::exclusive_sum(stream, temporary_->scratch, counts, sums, count);
}

void queue_start(const example::Stream& stream, const Cells& cells, const Start& start, const Movers& movers,
                 std::uint32_t room, std::uint32_t* count) {
  example::launch(stream, start.site_count(), kernels::start, cells, start, movers, room, count);
}

void queue_scatter(const example::Stream& stream, const Cells& cells, const Movers& movers,
                   std::uint32_t count, const Sorted& sorted, const Sorted& rim, Status* status) {
  example::launch(stream, std::max(count, 1U), kernels::scatter, cells, movers, count, sorted, rim, status);
}

void queue_advance(const example::Stream& stream, const Cells& cells, const Sorted& sorted,
                   std::uint32_t first, std::uint32_t end, std::uint32_t most, const Model& model,
                   const Mover& mover, const Movers& movers, Status* status) {
  if (most == 0) {
    return;
  }
  std::visit(
      [&]<typename Kind>(const Kind& kind) {
        example::launch(stream, most, kernels::advance<Kind>, cells, sorted, first, end, kind, mover, movers,
                        status);
      },
      model);
  if (cells.capsule_starts != nullptr) {
    example::launch(stream, most, kernels::bounce, cells, sorted, first, end, movers, status);
  }
}

}  // namespace particles
