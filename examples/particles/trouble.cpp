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
  Status* const status = memory_->status();
  example::check(cudaMemsetAsync(status, 0, sizeof *status, boundary_.get()), "clear the status");
  // What the lowest of is kept starts as the highest.
  example::check(cudaMemsetAsync(&status->too_fast, 0xFF, sizeof status->too_fast, boundary_.get()),
                 "clear the status");
  example::check(cudaMemsetAsync(&status->too_near, 0xFF, sizeof status->too_near, boundary_.get()),
                 "clear the status");
  example::check(cudaMemsetAsync(&status->too_near_step, 0xFF, sizeof status->too_near_step, boundary_.get()),
                 "clear the status");
  boundary_.synchronize();
}

/// The pair of the first step in which particles were too near, of all ranks, or nothing. Collective.
std::string Simulation::too_near_text(const Status& own, std::int64_t& step) {
  unsigned int first = own.too_near_step;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_UNSIGNED, MPI_MIN, communicator_);
  unsigned long long pair = own.too_near_step == first ? own.too_near : ~0ULL;
  MPI_Allreduce(MPI_IN_PLACE, &pair, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, communicator_);
  if (pair == ~0ULL) {
    return {};
  }
  step = history_.checked_steps + first + 1;
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

/// The particle that moved too far first, of all ranks, or nothing. Collective.
std::string Simulation::too_fast_text(const Status& own, std::int64_t& step) {
  unsigned long long too_fast = own.too_fast;
  MPI_Allreduce(MPI_IN_PLACE, &too_fast, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, communicator_);
  if (too_fast == none_too_fast) {
    return {};
  }
  step = history_.checked_steps + static_cast<std::int64_t>(too_fast >> 56) + 1;
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
  std::int64_t near_step = 0;
  std::int64_t fast_step = 0;
  const std::string too_near = too_near_text(*status_.get(), near_step);
  const std::string too_fast = too_fast_text(*status_.get(), fast_step);
  // Particles that are too near are soon too fast.
  std::string text = !too_near.empty() && (too_fast.empty() || near_step <= fast_step) ? too_near : too_fast;
  if (text.empty()) {
    text = first_text(halted_, communicator_);
  }
  history_.checked_steps = history_.steps;
  clear_status();
  return text;
}

}  // namespace particles
