// What a step does with the particles of one rank, as calls that queue kernels on a stream. Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>

#include "examples/particles/cells.hpp"
#include "examples/particles/model.hpp"
#include "examples/particles/start.hpp"
#include "examples/support/gpu.hpp"

namespace particles {

/// Exclusive sums of counts, in place or not, with the temporary memory that they need. For one stream.
class Sums {
 public:
  Sums();
  ~Sums();
  Sums(const Sums&) = delete;
  Sums& operator=(const Sums&) = delete;

  void queue(const example::Stream& stream, const std::uint32_t* counts, std::uint32_t* sums,
             std::uint32_t count);

 private:
  struct Temporary;
  std::unique_ptr<Temporary> temporary_;
};

/// Adds this rank's particles of the start to `movers`, of which `count`, in device memory, says how many
/// there are.
void queue_start(const example::Stream& stream, const Cells& cells, const Start& start, const Movers& movers,
                 std::uint32_t room, std::uint32_t* count);

/// The first `count` movers, to their places: those of internal cells in `sorted`, the others in `rim`, from
/// its start. `starts` of `sorted` must be the sums of the movers' counts. Fills in status->ends.
void queue_scatter(const example::Stream& stream, const Cells& cells, const Movers& movers,
                   std::uint32_t count, const Sorted& sorted, const Sorted& rim, Status* status);

/// What moves particles.
struct Mover {
  float step;         ///< of time
  float kick;         ///< step, or half of it at the start: velocities are those half a step before
  float per_unit[3];  ///< 2^32 over the box's sides
  float body_force[3];
  float limit[3];        ///< how far a particle may go, in positions' units
  std::uint32_t steps;   ///< since the status was cleared
  std::uint32_t number;  ///< of the step, of all
};

/// Sums the forces on the own particles of cells [first, end), of which there are `most` particles at most,
/// and moves them. They become movers of the same index.
void queue_advance(const example::Stream& stream, const Cells& cells, const Sorted& sorted,
                   std::uint32_t first, std::uint32_t end, std::uint32_t most, const Model& model,
                   const Mover& mover, const Movers& movers, Status* status);

}  // namespace particles
