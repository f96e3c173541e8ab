#include "examples/particles/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace particles {
namespace {

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

/// Of the message to each neighbour, in records.
std::vector<std::uint32_t> rooms_to(const Options& options, const Tiling& tiling, const Start& start) {
  const double records = options.dpd ? 2 : 1;  // of a particle
  std::vector<std::uint32_t> rooms;
  for (const Tally& near : tiling.near) {
    const Tally& sent = options.send == Send::selective ? near : tiling.rim;
    rooms.push_back(room_for(records * sent.expected(particles_in_voxel(start)), options.room));
  }
  return rooms;
}

Rooms rooms_of(const Options& options, const Tiling& tiling, const Start& start, std::uint32_t arrivals) {
  const double density = particles_in_voxel(start);
  return {room_for(tiling.own.expected(density) + tiling.foreign.expected(density), options.room),
          room_for(tiling.rim.expected(density), options.room), std::max(arrivals, 1U)};
}

Mover make_mover(const Options& options, const Box& box) {
  Mover mover{static_cast<float>(options.time_step), 0, {}, {}, {}, 0, 0};
  for (int axis = 0; axis < 3; ++axis) {
    mover.per_unit[axis] = static_cast<float>(1 / box.unit(axis));
    mover.body_force[axis] = static_cast<float>(options.body_force[static_cast<std::size_t>(axis)]);
    mover.limit[axis] = static_cast<float>(voxels_a_step * 4294967296.0 / box.voxels(axis));
  }
  return mover;
}

}  // namespace

Simulation::Simulation(const Options& options, const Domain& domain, const Owners& owners,
                       MPI_Comm communicator, const std::vector<std::uint8_t>& counts)
    : options_(options),
      communicator_(communicator),
      rank_(rank_in(communicator)),
      domain_(domain),
      start_(make_start(options, domain)),
      tiling_(make_tiling(domain.box, owners, rank_, counts)),
      exchange_({options.exchange, options.counts}, communicator, tiling_.neighbours,
                rooms_to(options, tiling_, start_)),
      rooms_(rooms_of(options, tiling_, start_, exchange_.inbox_room())),
      model_(make_model(options, domain.box)),
      packing_{options.send != Send::selective, options.dpd.has_value()},
      mover_(make_mover(options, domain.box)) {
  if (options.rounds > 1) {
    packing_watch_.emplace();
  }
}

std::int64_t Simulation::device_bytes() const {
  return DeviceTiling::bytes(tiling_, domain_) + ParticleMemory::bytes(tiling_.classes, rooms_) +
         exchange_.room() * std::int64_t{sizeof(Record)} + std::int64_t{sizeof(Totals)};
}

void Simulation::allocate() {
  device_tiling_.emplace(tiling_, domain_);
  memory_.emplace(tiling_.classes, rooms_);
  exchange_.prepare();
  clear_status();
  example::check(
      cudaMemsetAsync(memory_->moved().counts, 0,
                      (tiling_.classes.all + std::size_t{1}) * sizeof(std::uint32_t), boundary_.get()),
      "clear counts");
}

void Simulation::prepare() {
  allocate();
  const example::DeviceArray<std::uint32_t> count(1);
  example::check(cudaMemsetAsync(count.get(), 0, sizeof(std::uint32_t), boundary_.get()), "clear a count");
  queue_start(boundary_, device_tiling_->cells(), start_, memory_->moved(), rooms_.particles, count.get());
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
  set_mover();
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
  ++history_.steps;
}

void Simulation::set_mover() {
  mover_.kick = history_.steps == 0 ? mover_.step / 2 : mover_.step;
  mover_.steps = static_cast<std::uint32_t>(history_.steps - history_.checked_steps);
  mover_.number = static_cast<std::uint32_t>(history_.steps);
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
    pack();
  }
  example::check(cudaMemcpyAsync(status_.get(), status, sizeof *status, cudaMemcpyDefault, boundary_.get()),
                 "copy the status");
  boundary_.synchronize();
  if (packing_watch_ && exchange_.sends() > 0) {
    note_packed();
  }
  const Status& own = *status_.get();
  if (own.ends[2] > rooms_.particles || own.ends[2] - own.ends[1] > rooms_.rim) {
    halt("its " + std::to_string(own.ends[2]) + " particles, " + std::to_string(own.ends[2] - own.ends[1]) +
         " of them near others'");
  }
}

void Simulation::pack() {
  const example::NamedRange range("pack");
  Status* const status = memory_->status();
  example::check(cudaMemsetAsync(status->records, 0, sizeof status->records, boundary_.get()),
                 "clear counts");
  if (packing_watch_) {
    packing_watch_->start(boundary_);
  }
  queue_pack(boundary_, device_tiling_->cells(), memory_->rim(), std::min(mover_count_, rooms_.rim), packing_,
             exchange_.outbox(), status);
  if (packing_watch_) {
    packing_watch_->stop(boundary_);
  }
}

/// What the kernel that has just ended must read and write at least: places and cells near others, and
/// records.
void Simulation::note_packed() {
  const Status& own = *status_.get();
  const std::int64_t near = own.ends[2] - own.ends[1];
  const std::int64_t records = std::accumulate(own.records, own.records + exchange_.sends(), std::int64_t{0});
  history_.packed_bytes +=
      near * std::int64_t{sizeof(Place) + sizeof(std::uint32_t)} + records * std::int64_t{sizeof(Record)};
  history_.pack_s += packing_watch_->time_s();
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
  queue_merge(boundary_, cells, memory_->rim(), own.ends[2] - own.ends[1], packing_, inbox, arrivals,
              memory_->sorted(), memory_->status());
}

void Simulation::advance_deep() {
  const example::NamedRange range("internal");
  if (halted_.empty()) {
    queue_advance(bulk_, device_tiling_->cells(), memory_->sorted(), 0, tiling_.classes.deep,
                  status_.get()->ends[0], model_, mover_, memory_->moving(), memory_->status());
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
                tiling_.classes.frontier, end - own.ends[0], model_, mover_, movers, memory_->status());
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

void Simulation::halt(const std::string& what) {
  if (halted_.empty()) {
    halted_ = "rank " + std::to_string(rank_) + " has no room for " + what + " in step " +
              std::to_string(history_.steps + 1) + "; take a larger --room";
  }
}

}  // namespace particles
