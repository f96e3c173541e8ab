#include "examples/particles/rim_kernels.hpp"

#include "examples/particles/kernel_tools.hpp"

namespace particles {
namespace {

/// A bit for each neighbour to whom a particle goes, and the one, if any, whose it has become.
struct Address {
  std::uint64_t near;
  std::int32_t owner;
};

__device__ Address address_of(const Cells& cells, const Place& place, std::uint32_t cell, bool to_all,
                              std::uint32_t neighbours) {
  const Connection& connection = cells.connection(place, cell);
  const std::uint64_t all = neighbours == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << neighbours) - 1;
  return {to_all ? all : connection.near, connection.owner};
}

/// Calls `use` with each neighbour of an address and the number of records that it gets.
template <typename Use>
__device__ void for_each_addressee(const Address& address, bool with_velocities, Use&& use) {
  std::uint32_t neighbour = 0;
  for (std::uint64_t rest = address.near; rest != 0; rest >>= 1, ++neighbour) {
    if ((rest & 1) != 0) {
      const bool is_owner = static_cast<std::int32_t>(neighbour) == address.owner;
      use(neighbour, is_owner || with_velocities ? 2U : 1U);
    }
  }
}

__device__ Record record_of(const Motion& motion) {
  return {{bits_of(motion.velocity[0]), bits_of(motion.velocity[1]), bits_of(motion.velocity[2])},
          no_identity};
}

__device__ Motion motion_of(const Record& record, bool is_own) {
  return {{float_of(record.at[0]), float_of(record.at[1]), float_of(record.at[2])}, is_own ? 1U : 0U};
}

/// The index of the record that thread `number` looks at.
__device__ std::uint32_t record_index(const Mailbox& inbox, std::uint32_t number) {
  std::uint32_t neighbour = 0;
  while (inbox.sums[neighbour + 1] <= number) {
    ++neighbour;
  }
  return inbox.starts[neighbour] + (number - inbox.sums[neighbour]);
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

/// Counted and then written: a block asks once for its part of each neighbour's message.
__global__ void pack(Cells cells, Sorted rim, Packing packing, Mailbox outbox, Status* status) {
  __shared__ std::uint32_t counts[most_neighbours];
  __shared__ std::uint32_t places[most_neighbours];
  const std::uint32_t index = thread_index();
  // Of the particles in frontier and external cells, those for which `rim` has room.
  const std::uint32_t own = rim.starts[cells.classes.all] - rim.starts[cells.classes.internal];
  const bool has_particle = index < own && index < rim.room;
  if (threadIdx.x < most_neighbours) {
    counts[threadIdx.x] = 0;
  }
  __syncthreads();
  Place place{};
  Address address{0, nobody};
  if (has_particle) {
    place = rim.places[index];
    address = address_of(cells, place, rim.cells[index], packing.to_all, outbox.neighbours);
  }
  for_each_addressee(address, packing.with_velocities, [&](std::uint32_t neighbour, std::uint32_t records) {
    atomicAdd(&counts[neighbour], records);
  });
  __syncthreads();
  if (threadIdx.x < outbox.neighbours && counts[threadIdx.x] > 0) {
    places[threadIdx.x] = atomicAdd(&status->records[threadIdx.x], counts[threadIdx.x]);
  }
  __syncthreads();
  for_each_addressee(address, packing.with_velocities, [&](std::uint32_t neighbour, std::uint32_t records) {
    const std::uint32_t at = atomicAdd(&places[neighbour], records);
    if (at + records > outbox.room(neighbour)) {
      return;  // the host sees by status->records that there is no room
    }
    Record* const to = outbox.records + outbox.starts[neighbour] + at;
    to[0] = place;
    if (records == 2) {
      to[1] = record_of(rim.motions[index]);
    }
  });
}

__global__ void find_arrivals(Cells cells, Mailbox inbox, Arrivals arrivals) {
  const std::uint32_t number = thread_index();
  if (number >= inbox.come()) {
    return;
  }
  const Record record = inbox.records[record_index(inbox, number)];
  std::uint32_t cell = record.identity == no_identity ? no_cell : cells.find(record);
  if (cell != no_cell && cells.is_internal(cell)) {
    cell = no_cell;
  }
  arrivals.cells[number] = cell;
  if (cell != no_cell) {
    arrivals.turns[number] = atomicAdd(&arrivals.counts[cell - cells.classes.internal], 1U);
  }
}

__global__ void add_own(Cells cells, const std::uint32_t* starts, Arrivals arrivals) {
  const std::uint32_t index = thread_index();
  if (index < cells.classes.rim()) {
    const std::uint32_t cell = cells.classes.internal + index;
    arrivals.counts[index] += starts[cell + 1] - starts[cell];
  }
}

/// First the own ones, then what has come.
__global__ void merge(Cells cells, Sorted rim, Packing packing, Mailbox inbox, Arrivals arrivals,
                      Sorted sorted, Status* status) {
  const std::uint32_t base = rim.starts[cells.classes.internal];
  const std::uint32_t own = rim.starts[cells.classes.all] - base;
  const std::uint32_t index = thread_index();
  if (index >= own + inbox.come()) {
    return;
  }
  Place place{};
  Motion motion{};
  std::uint32_t cell = no_cell;
  std::uint32_t at = base;
  if (index < own) {
    place = rim.places[index];
    motion = rim.motions[index];
    cell = rim.cells[index];
    motion.is_own = cells.connection(place, cell).owner == mine ? 1 : 0;
    at += arrivals.starts[cell - cells.classes.internal] + (index - (rim.starts[cell] - base));
  } else {
    const std::uint32_t number = index - own;
    cell = arrivals.cells[number];
    if (cell == no_cell) {
      return;
    }
    const Record* const record = inbox.records + record_index(inbox, number);
    place = *record;
    const bool is_own = cells.connection(place, cell).owner == mine;
    if (is_own || packing.with_velocities) {
      motion = motion_of(record[1], is_own);
    }
    if (is_own) {
      atomicAdd(&status->migrated, 1U);
    }
    at += arrivals.starts[cell - cells.classes.internal] + (rim.starts[cell + 1] - rim.starts[cell]) +
          arrivals.turns[number];
  }
  sorted.places[at] = place;
  sorted.motions[at] = motion;
  sorted.cells[at] = cell;
}

/// The first of these is what it was: forces of deep cells, which may be under way, read it.
__global__ void enter_starts(Cells cells, const std::uint32_t* rim_starts, std::uint32_t* starts) {
  const std::uint32_t index = thread_index() + 1;
  if (index <= cells.classes.rim()) {
    starts[cells.classes.internal + index] = starts[cells.classes.internal] + rim_starts[index];
  }
}

}  // namespace kernels

void queue_pack(const example::Stream& stream, const Cells& cells, const Sorted& rim, std::uint32_t most,
                const Packing& packing, const Mailbox& outbox, Status* status) {
  if (most > 0) {
    example::launch(stream, most, kernels::pack, cells, rim, packing, outbox, status);
  }
}

void queue_find_arrivals(const example::Stream& stream, const Cells& cells, const Mailbox& inbox,
                         const std::uint32_t* starts, const Arrivals& arrivals) {
  example::check(
      cudaMemsetAsync(arrivals.counts, 0, (cells.classes.rim() + std::size_t{1}) * sizeof *arrivals.counts,
                      stream.get()),
      "clear counts");
  if (inbox.come() > 0) {
    example::launch(stream, inbox.come(), kernels::find_arrivals, cells, inbox, arrivals);
  }
  example::launch(stream, cells.classes.rim(), kernels::add_own, cells, starts, arrivals);
}

void queue_merge(const example::Stream& stream, const Cells& cells, const Sorted& rim, std::uint32_t most,
                 const Packing& packing, const Mailbox& inbox, const Arrivals& arrivals, const Sorted& sorted,
                 Status* status) {
  if (most + inbox.come() > 0) {
    example::launch(stream, std::int64_t{most} + inbox.come(), kernels::merge, cells, rim, packing, inbox,
                    arrivals, sorted, status);
  }
  example::launch(stream, cells.classes.rim(), kernels::enter_starts, cells, arrivals.starts, sorted.starts);
}

}  // namespace particles
