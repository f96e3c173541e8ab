#include "examples/particles/observe_kernels.hpp"

#include <algorithm>

#include "examples/particles/kernel_tools.hpp"

namespace particles {
namespace {

/// Each takes several particles, lest all of them add to the same words.
constexpr std::uint32_t most_threads = 1 << 16;

/// splitmix64's finisher: every bit of the result depends on every bit of the input.
__device__ std::uint64_t mix(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

__device__ std::uint64_t hash_of(const Place& place, const Motion& motion) {
  std::uint64_t hash = mix(place.identity + 1);
  for (int axis = 0; axis < 3; ++axis) {
    hash = mix(hash ^ (std::uint64_t{place.at[axis]} << 32 | bits_of(motion.velocity[axis])));
  }
  return hash;
}

__device__ long long as_units(double value) {
  return static_cast<long long>(rint(value / totals_unit));
}

__device__ void add(unsigned long long* sum, unsigned long long value) {
  if (value != 0) {
    atomicAdd(sum, value);
  }
}

__device__ void add(long long* sum, long long value) {
  add(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// What one particle, and those near it, have.
template <typename Model>
__device__ void observe_own(const Cells& cells, const Sorted& sorted, const Model& model, const Mover& mover,
                            std::uint32_t index, Totals& totals) {
  const Pair::Party own{sorted.places[index].identity, sorted.motions[index]};
  Pair::Sum sum{};
  for_each_near(cells, sorted, model, sorted.places[index], sorted.cells[index],
                [&](const Pair::Separation& near, std::uint32_t other) {
                  add_force(sorted, model, near, own, other, mover.number, sum);
                  totals.potential += as_units(model.energy_of(near.square));
                  totals.virial += as_units(model.virial_of(near.square));
                });
  const std::int64_t force[3] = {sum.x, sum.y, sum.z};
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double velocity = sorted.motions[index].velocity[axis] +
                            (model.force_of(force[axis]) + mover.body_force[axis]) * mover.kick;
    totals.force[axis] += force[axis];
    totals.momentum[axis] += as_units(velocity);
    square += velocity * velocity;
  }
  totals.kinetic += as_units(square / 2);
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void count(Movers movers, std::uint32_t count, Totals* totals) {
  unsigned long long particles = 0;
  unsigned long long identities = 0;
  unsigned long long hash = 0;
  for (std::uint32_t index = thread_index(); index < count; index += thread_count()) {
    if (movers.cells[index] != no_cell) {
      const Place place = movers.places[index];
      ++particles;
      identities += mix(place.identity + 1);
      hash += hash_of(place, movers.motions[index]);
    }
  }
  add(&totals->particles, particles);
  add(&totals->identities, identities);
  add(&totals->hash, hash);
}

template <typename Model>
__global__ void observe(Cells cells, Sorted sorted, Model model, Mover mover, Totals* totals) {
  const std::uint32_t end = sorted.starts[cells.classes.all];
  Totals own{};
  for (std::uint32_t index = thread_index(); index < end; index += thread_count()) {
    if (sorted.motions[index].is_own != 0) {
      observe_own(cells, sorted, model, mover, index, own);
      continue;
    }
    bool touches = false;
    for_each_near(cells, sorted, model, sorted.places[index], sorted.cells[index],
                  [&](const Pair::Separation&, std::uint32_t other) {
                    touches = touches || sorted.motions[other].is_own != 0;
                  });
    own.touching += touches ? 1 : 0;
  }
  for (int axis = 0; axis < 3; ++axis) {
    add(&totals->force[axis], own.force[axis]);
    add(&totals->momentum[axis], own.momentum[axis]);
  }
  add(&totals->kinetic, own.kinetic);
  add(&totals->potential, own.potential);
  add(&totals->virial, own.virial);
  add(&totals->touching, own.touching);
}

template <typename Model>
__global__ void forces(Cells cells, Sorted sorted, Model model, std::uint32_t step, Force* forces) {
  const std::uint32_t index = thread_index();
  if (index >= sorted.starts[cells.classes.all]) {
    return;
  }
  Pair::Sum sum{};
  if (sorted.motions[index].is_own != 0) {
    const Pair::Party own{sorted.places[index].identity, sorted.motions[index]};
    for_each_near(cells, sorted, model, sorted.places[index], sorted.cells[index],
                  [&](const Pair::Separation& near, std::uint32_t other) {
                    add_force(sorted, model, near, own, other, step, sum);
                  });
  }
  forces[index] = {{model.force_of(sum.x), model.force_of(sum.y), model.force_of(sum.z)}};
}

}  // namespace kernels

void queue_count(const example::Stream& stream, const Movers& movers, std::uint32_t count, Totals* totals) {
  example::launch(stream, std::clamp(count, 1U, most_threads), kernels::count, movers, count, totals);
}

void queue_observe(const example::Stream& stream, const Cells& cells, const Sorted& sorted,
                   const Model& model, const Mover& mover, std::uint32_t most, Totals* totals) {
  std::visit(
      [&]<typename Kind>(const Kind& kind) {
        example::launch(stream, std::clamp(most, 1U, most_threads), kernels::observe<Kind>, cells, sorted,
                        kind, mover, totals);
      },
      model);
}

void queue_forces(const example::Stream& stream, const Cells& cells, const Sorted& sorted, const Model& model,
                  std::uint32_t step, std::uint32_t most, Force* forces) {
  if (most > 0) {
    std::visit(
        [&]<typename Kind>(const Kind& kind) {
          example::launch(stream, most, kernels::forces<Kind>, cells, sorted, kind, step, forces);
        },
        model);
  }
}

}  // namespace particles
