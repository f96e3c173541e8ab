// What ends a run: what a simulation has no room for, and particles that moved too far or came too near.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "examples/particles/simulation.hpp"

namespace particles {
namespace {

/// The same text on all ranks: that of the lowest one that has some. Collective.
std::string first_text(std::string text, MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  int rank_count = 1;
  MPI_Comm_size(communicator, &rank_count);
  int first = text.empty() ? rank_count : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, communicator);
  if (first == rank_count) {
    return {};
  }
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, first, communicator);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, communicator);
  return text;
}

/// Since the status was cleared; more than any if none was.
std::int64_t step_of_too_fast(std::uint64_t too_fast) {
  return static_cast<std::int64_t>(too_fast >> 56);
}

}  // namespace

std::string Simulation::complaint() const {
  std::string text = tiling_.complaint;
  if (text.empty() && exchange_.has_too_many()) {
    text = "more than " + std::to_string(most_neighbours) + " ranks send to rank " + std::to_string(rank_);
  }
  if (text.empty() && (rooms_.particles > INT_MAX || exchange_.room() > INT_MAX / 4)) {
    text = "rank " + std::to_string(rank_) + " would have " + std::to_string(rooms_.particles) +
           " particles and " + std::to_string(exchange_.room()) +
           " records of messages; 2^31 and 2^29 are the most; take more ranks";
  }
  return first_text(text, communicator_);
}

void Simulation::clear_status() {
  Status cleared{};
  // what the lowest of is kept starts as the highest
  cleared.too_fast = none_too_fast;
  cleared.too_near = ~0ULL;
  cleared.too_near_step = none_too_near;
  example::check(
      cudaMemcpyAsync(memory_->status(), &cleared, sizeof cleared, cudaMemcpyDefault, boundary_.get()),
      "clear the status");
  boundary_.synchronize();
}

/// The pair that was too near in the first such step. Collective.
std::string Simulation::too_near_text(const Status& own, std::uint64_t first) {
  const std::int64_t step = history_.checked_steps + static_cast<std::int64_t>(first) + 1;
  unsigned long long pair = own.too_near_step == first ? own.too_near : ~0ULL;
  MPI_Allreduce(MPI_IN_PLACE, &pair, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, communicator_);
  char line[256];
  std::snprintf(
      line, sizeof line,
      "particles %u and %u are nearer than %.3g in step %lld, where their force is beyond the fixed "
      "point that forces are summed in; take a shorter --time-step, or a lower --density or "
      "--temperature",
      static_cast<std::uint32_t>(pair >> 32), static_cast<std::uint32_t>(pair),
      std::sqrt(static_cast<double>(LennardJones::core_square)), static_cast<long long>(step));
  return line;
}

/// The particle that moved too far first.
std::string Simulation::too_fast_text(std::uint64_t too_fast) const {
  const std::int64_t step = history_.checked_steps + step_of_too_fast(too_fast) + 1;
  const auto identity = static_cast<std::uint32_t>(too_fast >> 24);
  const auto bits = static_cast<std::uint32_t>(too_fast << 8);
  float speed = 0;
  std::memcpy(&speed, &bits, sizeof speed);
  const Box& box = domain_.box;
  const double reach = voxels_a_step * std::min({box.voxel_side(0), box.voxel_side(1), box.voxel_side(2)});
  char line[256];
  std::snprintf(
      line, sizeof line,
      "particle %u moves at %g in step %lld, further than to the next voxel; the --time-step is %g, and %g "
      "is the longest for it",
      identity, speed, static_cast<long long>(step), options_.time_step, reach / speed);
  return line;
}

std::string Simulation::trouble() {
  synchronize();
  example::check(cudaMemcpy(status_.get(), memory_->status(), sizeof(Status), cudaMemcpyDefault),
                 "copy the status");
  history_.put_back += status_.get()->put_back;
  history_.migrated += status_.get()->migrated;
  unsigned long long first[2] = {status_.get()->too_fast, status_.get()->too_near_step};
  MPI_Allreduce(MPI_IN_PLACE, first, 2, MPI_UNSIGNED_LONG_LONG, MPI_MIN, communicator_);
  const auto [too_fast, too_near_step] = first;
  std::string text;
  // Particles that are too near are soon too fast.
  if (too_near_step != none_too_near &&
      static_cast<std::int64_t>(too_near_step) <= step_of_too_fast(too_fast)) {
    text = too_near_text(*status_.get(), too_near_step);
  } else if (too_fast != none_too_fast) {
    text = too_fast_text(too_fast);
  } else {
    text = first_text(halted_, communicator_);
  }
  history_.checked_steps = history_.steps;
  clear_status();
  return text;
}

}  // namespace particles
