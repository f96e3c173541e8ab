#include "examples/particles/simulation.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace particles {
namespace {

/// How far a particle may go in a step: to the next voxel, however positions are rounded.
constexpr double voxels_a_step = 0.999;

int rank_in(MPI_Comm communicator) {
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  return rank;
}

/// How many particles or records to make room for where so many are to be expected.
std::uint32_t room_for(double expected, double factor) {
  constexpr double least = 64;  // small numbers vary more
  return static_cast<std::uint32_t>(std::min(factor * (expected + 4 * std::sqrt(expected) + least), 4e9));
}

double particles_in_voxel(const Start& start) {
  return static_cast<double>(start.site_count()) / static_cast<double>(start.box.voxel_count());
}

double rim_voxels(const Tiling& tiling) {
  return static_cast<double>(tiling.connections.size()) - static_cast<double>(tiling.foreign_voxels);
}

/// Of the message to each neighbour, in records.
std::vector<std::uint32_t> rooms_to(const Options& options, const Tiling& tiling, const Start& start) {
  std::vector<std::uint32_t> rooms;
  for (const std::int64_t near : tiling.near_voxels) {
    const double voxels = options.send == Send::selective ? static_cast<double>(near) : rim_voxels(tiling);
    rooms.push_back(room_for(voxels * particles_in_voxel(start), options.room));
  }
  return rooms;
}

Rooms rooms_of(const Options& options, const Tiling& tiling, const Start& start, std::uint32_t arrivals) {
  const double density = particles_in_voxel(start);
  const auto foreign = static_cast<double>(tiling.foreign_voxels);
  return {room_for((static_cast<double>(tiling.own_voxels) + foreign) * density, options.room),
          room_for(rim_voxels(tiling) * density, options.room), std::max(arrivals, 1U)};
}

Mover make_mover(const Options& options, const Box& box) {
  Mover mover{Repulsion(box, options.repulsion), static_cast<float>(options.time_step), 0, {}, {}, 0};
  for (int axis = 0; axis < 3; ++axis) {
    mover.per_unit[axis] = static_cast<float>(1 / box.unit(axis));
    mover.limit[axis] = static_cast<float>(voxels_a_step * 4294967296.0 / box.voxels(axis));
  }
  return mover;
}

/// The same text on all ranks: that of the lowest one that has some. Collective.
std::string first_text(std::string text, MPI_Comm communicator) {
  int rank = rank_in(communicator);
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

Simulation::Simulation(const Options& options, const Domain& domain, const Owners& owners,
                       MPI_Comm communicator)
    : options_(options),
      communicator_(communicator),
      rank_(rank_in(communicator)),
      domain_(domain),
      tiling_(make_tiling(domain.box, owners, rank_)),
      start_(make_start(options, domain)),
      exchange_(options.exchange, communicator, tiling_.neighbours, rooms_to(options, tiling_, start_)),
      rooms_(rooms_of(options, tiling_, start_, exchange_.inbox_room())),
      mover_(make_mover(options, domain.box)) {}

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

std::int64_t Simulation::device_bytes() const {
  return DeviceTiling::bytes(tiling_, domain_) + ParticleMemory::bytes(tiling_.classes, rooms_) +
         exchange_.room() * std::int64_t{sizeof(Record)} + std::int64_t{sizeof(Totals)};
}

void Simulation::prepare() {
  device_tiling_.emplace(tiling_, domain_);
  memory_.emplace(tiling_.classes, rooms_);
  exchange_.prepare();
  clear_status();
  const Movers movers = memory_->moved();
  const example::DeviceArray<std::uint32_t> count(1);
  example::check(cudaMemsetAsync(count.get(), 0, sizeof(std::uint32_t), boundary_.get()), "clear a count");
  example::check(
      cudaMemsetAsync(movers.counts, 0, (tiling_.classes.all + std::size_t{1}) * sizeof(std::uint32_t),
                      boundary_.get()),
      "clear counts");
  queue_start(boundary_, device_tiling_->cells(), start_, movers, rooms_.particles, count.get());
  example::check(
      cudaMemcpyAsync(&mover_count_, count.get(), sizeof mover_count_, cudaMemcpyDefault, boundary_.get()),
      "copy a count");
  boundary_.synchronize();
  if (mover_count_ > rooms_.particles) {
    halt("its " + std::to_string(mover_count_) + " particles");
  }
}

void Simulation::step() {
  const example::NamedRange range("step");
  mover_.kick = steps_ == 0 ? mover_.step / 2 : mover_.step;
  mover_.steps = static_cast<std::uint32_t>(steps_ - checked_steps_);
  bin();
  if (options_.overlap) {
    advance_deep();
  }
  exchange();
  merge();
  if (!options_.overlap) {
    advance_deep();
  }
  advance_others();
  ++steps_;
}

/// Sorts own particles, and packs those that others need.
void Simulation::bin() {
  const example::NamedRange range("bin");
  if (!halted_.empty()) {
    return;
  }
  const Classes& classes = tiling_.classes;
  const Cells& cells = device_tiling_->cells();
  const Sorted sorted = memory_->sorted();
  Status* const status = memory_->status();
  bulk_done_.block(boundary_);
  sums_.queue(boundary_, memory_->moved().counts, sorted.starts, classes.all + 1);
  queue_scatter(boundary_, cells, memory_->moved(), mover_count_, sorted, memory_->rim(), status);
  example::check(cudaMemsetAsync(memory_->moving().counts, 0,
                                 (classes.all + std::size_t{1}) * sizeof(std::uint32_t), boundary_.get()),
                 "clear counts");
  if (exchange_.sends() > 0) {
    const example::NamedRange pack("pack");
    example::check(cudaMemsetAsync(status->records, 0, sizeof status->records, boundary_.get()),
                   "clear counts");
    queue_pack(boundary_, cells, memory_->rim(), std::min(mover_count_, rooms_.rim),
               options_.send != Send::selective, exchange_.outbox(), status);
  }
  example::check(cudaMemcpyAsync(status_.get(), status, sizeof *status, cudaMemcpyDefault, boundary_.get()),
                 "copy the status");
  boundary_.synchronize();
  const Status& own = *status_.get();
  if (own.ends[2] > rooms_.particles || own.ends[2] - own.ends[1] > rooms_.rim) {
    halt("its " + std::to_string(own.ends[2]) + " particles, " + std::to_string(own.ends[2] - own.ends[1]) +
         " of them near others'");
  }
}

void Simulation::exchange() {
  const example::NamedRange range("exchange");
  std::vector<std::uint32_t> counts(exchange_.sends());
  for (std::uint32_t index = 0; index < counts.size() && halted_.empty(); ++index) {
    const std::uint32_t room = exchange_.outbox().room(index);
    counts[index] = std::min<std::uint32_t>(status_.get()->records[index], room);
    if (status_.get()->records[index] > room) {
      halt("a message of " + std::to_string(status_.get()->records[index]) + " records");
    }
  }
  exchange_.transfer(boundary_, counts.data());
}

void Simulation::merge() {
  const example::NamedRange range("migrate");
  if (!halted_.empty() || tiling_.classes.rim() == 0) {
    return;
  }
  const Status& own = *status_.get();
  const Mailbox& inbox = exchange_.inbox();
  if (own.ends[2] + std::int64_t{inbox.come()} > rooms_.particles) {
    halt(std::to_string(inbox.come()) + " records that came");
    return;
  }
  const Cells& cells = device_tiling_->cells();
  const Arrivals arrivals = memory_->arrivals();
  queue_find_arrivals(boundary_, cells, inbox, memory_->sorted().starts, arrivals);
  sums_.queue(boundary_, arrivals.counts, arrivals.starts, tiling_.classes.rim() + 1);
  queue_merge(boundary_, cells, memory_->rim(), own.ends[2] - own.ends[1], inbox, arrivals, memory_->sorted(),
              memory_->status());
}

void Simulation::advance_deep() {
  const example::NamedRange range("internal");
  if (halted_.empty()) {
    queue_advance(bulk_, device_tiling_->cells(), memory_->sorted(), 0, tiling_.classes.deep,
                  status_.get()->ends[0], mover_, memory_->moving(), memory_->status());
    bulk_done_.record(bulk_);
  }
}

/// Particles of the shell and of frontier cells; others' ones of those become no movers.
void Simulation::advance_others() {
  const example::NamedRange range("frontier");
  if (!halted_.empty()) {
    return;
  }
  const Status& own = *status_.get();
  const std::uint32_t end = own.ends[2] + exchange_.inbox().come();
  const Movers movers = memory_->moving();
  if (end > own.ends[1]) {
    example::check(cudaMemsetAsync(movers.cells + own.ends[1], 0xFF,
                                   (end - own.ends[1]) * sizeof(std::uint32_t), boundary_.get()),
                   "clear movers");
  }
  queue_advance(boundary_, device_tiling_->cells(), memory_->sorted(), tiling_.classes.deep,
                tiling_.classes.frontier, end - own.ends[0], mover_, movers, memory_->status());
  mover_count_ = end;
  memory_->swap_counts();
}

/// All that a step does before particles move.
void Simulation::sort_all() {
  bin();
  exchange();
  merge();
}

void Simulation::synchronize() const {
  boundary_.synchronize();
  bulk_.synchronize();
}

void Simulation::clear_status() {
  Status* const status = memory_->status();
  example::check(cudaMemsetAsync(status, 0, sizeof *status, boundary_.get()), "clear the status");
  example::check(cudaMemsetAsync(&status->too_fast, 0xFF, sizeof status->too_fast, boundary_.get()),
                 "clear the status");
  boundary_.synchronize();
}

void Simulation::halt(const std::string& what) {
  if (halted_.empty()) {
    halted_ = "rank " + std::to_string(rank_) + " has no room for " + what + " in step " +
              std::to_string(steps_ + 1) + "; take a larger --room";
  }
}

std::string Simulation::trouble() {
  synchronize();
  example::check(cudaMemcpy(status_.get(), memory_->status(), sizeof(Status), cudaMemcpyDefault),
                 "copy the status");
  put_back_ += status_.get()->put_back;
  migrated_ += status_.get()->migrated;
  unsigned long long too_fast = status_.get()->too_fast;
  MPI_Allreduce(MPI_IN_PLACE, &too_fast, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, communicator_);
  std::string text;
  if (too_fast != none_too_fast) {
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
        identity, speed,
        static_cast<long long>(checked_steps_ + static_cast<std::int64_t>(too_fast >> 56) + 1),
        options_.time_step, reach / speed);
    text = line;
  } else {
    text = first_text(halted_, communicator_);
  }
  checked_steps_ = steps_;
  clear_status();
  return text;
}

}  // namespace particles
