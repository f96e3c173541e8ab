// How the resident kernel reads its orders: from the host's mailbox, and relayed from its first block to the
// others. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/element_update.cuh"
#include "transports/kernels/loads.cuh"
#include "transports/kernels/one_shot_collective.cuh"
#include "transports/kernels/polling.cuh"
#include "transports/kernels/resident.hpp"
#include "transports/kernels/strided_copy.cuh"

namespace penstock::transports::kernels {
namespace {

__device__ ResidentOrder read(const ResidentOrder& order) {
#ifdef __CUDACC__
  const Word16 both = load_fresh(&order);
  return {both.low, both.high};
#else
  const std::uint64_t from = __atomic_load_n(&order.from, __ATOMIC_ACQUIRE);
  return {from, __atomic_load_n(&order.to, __ATOMIC_RELAXED)};
#endif
}

/// Writes for other blocks.
__device__ void write(ResidentOrder& order, const ResidentOrder& value) {
#ifdef __CUDACC__
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};"
               :
               : "l"(&order), "l"(value.from), "l"(value.to)
               : "memory");
#else
  __atomic_store_n(&order.to, value.to, __ATOMIC_RELAXED);
  __atomic_store_n(&order.from, value.from, __ATOMIC_RELEASE);
#endif
}

/// The threads' next work.
struct ResidentTask {
  char* to;
  const char* from;
  std::uint32_t bytes;
  std::uint32_t count;     ///< of orders, including this one
  bool is_shared;          ///< by all blocks; collectives have it in one_shot_task()
  bool comes_beside;       ///< its payload arrives beside the order, in place of `from`
  bool goes_down_stamped;  ///< in place of `to`
  bool is_strided;         ///< a copy as in `strided`
  bool is_one_shot;        ///< a collective as in one_shot_task()
  bool is_update;          ///< as in update_task()
  bool is_last;
  StridedItem strided;
};
struct OneShotTask {
  OneShotCollective collective;
  ResidentType type;
  bool is_shared;  ///< by all blocks
};
/// The block's; large, and seldom used.
__device__ OneShotTask& one_shot_task() {
  __shared__ OneShotTask task;
  return task;
}

/// The block's.
__device__ ElementUpdate& update_task() {
  __shared__ ElementUpdate task;
  return task;
}

__device__ char* memory_of(std::uint64_t address, const ResidentKernel& resident) {
  const std::uint64_t distance = reinterpret_cast<std::uint64_t>(resident.known) - ~resident.known_inverted;
  return address == bounce_address ? resident.bounce : reinterpret_cast<char*>(address + distance);
}

/// Returns true if the host has ordered something after `done`. The source is loaded after the order that
/// names it, as its address depends on that.
__device__ bool take(const ResidentOrder& order, const ResidentKernel& resident, std::uint32_t done,
                     ResidentTask& task) {
  const auto ahead = static_cast<std::uint32_t>((order.from - done) & number_mask);
  const bool belong_together = (order.to >> 16 & 1) == (order.from & 1);
  if (ahead == 0 || !belong_together) return false;
  std::uint64_t to = order.to >> address_shift;
  std::uint64_t from = order.from >> address_shift;
  std::uint64_t last_byte = order.to & 0xffff;
  task.count = done + ahead;
  task.is_shared = (order.from & shared_bit) != 0;
  task.comes_beside = from == beside_address;
  task.is_strided = to < least_address && to % (1u << strided_size_shift) == strided_address;
  task.is_one_shot = to == one_shot_address;
  task.is_update = to == update_address;
  task.goes_down_stamped = to == down_address;
  task.is_last = to == 0;
  if (task.is_strided) {
    last_byte |= to >> strided_size_shift << 16;
  } else if (task.is_shared) {
    last_byte |= from % shared_alignment << 16 | to % shared_alignment << 20;
    from -= from % shared_alignment;
    to -= to % shared_alignment;
  }
  task.to = memory_of(to, resident);
  task.from = memory_of(from, resident);
  task.bytes = task.is_last ? 0 : static_cast<std::uint32_t>(last_byte) + 1;
  return true;
}

/// The first block passes this to the others: shared orders, as it found them, and finally the order to
/// leave. It begins with the number of an order that all have executed, so that no block combines one word of
/// the next order with an old other word.
constexpr std::uint64_t nothing_relayed = UINT64_MAX;
struct Relay {
  ResidentOrder order = {nothing_relayed, 0};  ///< between launches
  std::uint32_t words[words_beside] = {};      ///< beside it
  std::uint32_t executed = 0;  ///< blocks that have executed their part of a one-shot collective
};
__device__ Relay relays[slot_count];

/// The first block runs this: it takes an order of the host's, and relays it, unless words belong to it.
__device__ bool take_and_relay(const ResidentOrder& order, const ResidentKernel& resident, std::uint32_t done,
                               ResidentTask& task) {
  if (!take(order, resident, done, task)) return false;
  if (task.is_shared && !task.is_strided) write(relays[resident.slot].order, order);
  return true;
}

/// The first threads read a part of the line each, by one load for all: several loads of a line run one after
/// the other.
__device__ ResidentOrder look(const ResidentMailbox& mailbox) {
  const auto* const parts = reinterpret_cast<const ResidentOrder*>(&mailbox.line);
  return threadIdx.x < line_threads ? read(parts[threadIdx.x]) : ResidentOrder{};
}

/// Each thread that has read a part of the line with the payload in it runs this. Collects the part's words.
/// Returns whether they belong to this order.
__device__ bool has_come(const ResidentOrder& part, const ResidentTask& task, std::uint32_t* payload) {
  if (threadIdx.x == 0 || threadIdx.x >= line_threads) return true;
  const std::uint64_t words[] = {part.from, part.to};
  const std::uint32_t bytes =
      task.is_strided || task.is_one_shot || task.is_update ? largest_beside : task.bytes;
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::uint32_t index = 2 * (threadIdx.x - 1) + i;
    if (index * stamped_bytes >= bytes) break;
    if (words[i] >> stamp_shift != task.count) return false;
    payload[index] = static_cast<std::uint32_t>(words[i]);
  }
  return true;
}

__device__ std::uint64_t wide(const std::uint32_t* words) {
  return words[0] | std::uint64_t{words[1]} << 32;
}
__device__ StridedLoops loops_of(const std::uint32_t* side) {
  StridedLoops loops;
  loops.row_bytes = side[StridedWords::row_bytes] & ((1u << StridedWords::unit_position) - 1);
  loops.counts[0] = side[StridedWords::count];
  loops.strides[0] = static_cast<std::int64_t>(wide(side + StridedWords::stride));
  loops.strides[1] = static_cast<std::int64_t>(wide(side + StridedWords::outer_stride));
  loops.depth = loops.strides[1] != 0 ? 2 : loops.strides[0] != 0 ? 1 : 0;
  return loops;
}
/// Decodes a strided task's words.
__device__ void read_strided(const std::uint32_t* words, const ResidentKernel& resident, ResidentTask& task) {
  task.strided.to = memory_of(wide(words + StridedWords::to), resident);
  task.strided.from = task.from;
  task.strided.bytes = task.bytes;
  task.strided.unit_shift =
      words[StridedWords::from_side + StridedWords::row_bytes] >> StridedWords::unit_position;
  task.strided.to_begin = task.strided.from_begin = 0;
  task.strided.to_loops = loops_of(words + StridedWords::to_side);
  task.strided.from_loops = loops_of(words + StridedWords::from_side);
}

/// Decodes an update's words, which stay where they are while it is executed.
__device__ void read_update(const std::uint32_t* words, const ResidentKernel& resident, std::uint32_t bytes) {
  const std::uint32_t what = words[UpdateWords::what];
  const auto field = [&](std::uint32_t position, std::uint32_t mask) { return what >> position & mask; };
  const auto address = [&](std::uint32_t word) { return memory_of(wide(words + word), resident); };
  ElementUpdate& update = update_task();
  update.target = address(UpdateWords::target);
  update.result = wide(words + UpdateWords::result) == 0 ? nullptr : address(UpdateWords::result);
  update.operand = words + UpdateWords::operand;
  if (field(UpdateWords::has_operand, 1) == 0) update.operand = address(UpdateWords::operand);
  update.compared = words + UpdateWords::compared;
  if (field(UpdateWords::has_compared, 1) == 0) update.compared = address(UpdateWords::compared);
  update.element_shift = field(UpdateWords::element_shift, 3);
  update.count = bytes >> update.element_shift;
  update.kind = static_cast<UpdateKind>(field(UpdateWords::kind, 3));
  update.type = static_cast<ResidentType>(field(UpdateWords::type, 0xf));
  update.operation = static_cast<ReductionOperation>(field(UpdateWords::operation, 0xff));
}

/// Decodes a one-shot collective's words, and the route. A warp runs this, as the data of each rank takes
/// several loads in sequence.
__device__ void read_one_shot(const std::uint32_t* words, const ResidentKernel& resident, const char* own) {
  const auto* const route =
      reinterpret_cast<const OneShotRoute*>(memory_of(wide(words + OneShotWords::route), resident));
  OneShotCollective& one_shot = one_shot_task().collective;
  const std::uint32_t what = words[OneShotWords::what];
  const std::uint32_t stamp = words[OneShotWords::stamp];
  const auto field = [&](std::uint32_t position, std::uint32_t mask) { return what >> position & mask; };
  if (const std::uint32_t rank = threadIdx.x; rank < most_sources) {
    const std::uint64_t set = stamp % one_shot_sets * route->set_bytes;
    OneShotPeer& peer = one_shot.peers[rank];
    peer.outgoing = reinterpret_cast<std::uint64_t*>(memory_of(route->outgoing[rank] + set, resident));
    peer.incoming = reinterpret_cast<const std::uint64_t*>(memory_of(route->incoming[rank] + set, resident));
    const std::uint32_t unit_shift = field(OneShotWords::unit_shift, 0xf);
    const std::uint32_t part = words[OneShotWords::parts + rank];
    peer.sent = (part & OneShotWords::most_units) << unit_shift;
    peer.received = part >> 16 << unit_shift;
  }
  if (threadIdx.x != 0) return;
  one_shot.to = memory_of(wide(words + OneShotWords::to), resident);
  one_shot.own = own;
  one_shot.is_for_each = field(OneShotWords::is_for_each, 1) != 0;
  one_shot.is_checked = field(OneShotWords::is_checked, 1) != 0;
  one_shot.ranks = route->ranks;
  one_shot.combined = field(OneShotWords::combined, 0xf);
  one_shot.stamp = stamp;
  one_shot.operation = static_cast<ReductionOperation>(field(OneShotWords::operation, 0xff));
  one_shot.sends = true;
  one_shot.limit_ns = one_shot_order_limit_ns;
  one_shot_task().type = static_cast<ResidentType>(field(OneShotWords::type, 0xf));
  one_shot_task().is_shared = field(OneShotWords::is_shared, 1) != 0;
}

/// The first warp of the first block sends an order with words to the others.
__device__ void relay_with_words(const ResidentKernel& resident, const ResidentOrder& order,
                                 const std::uint32_t* words) {
  Relay& relay = relays[resident.slot];
  if (threadIdx.x < words_beside) relay.words[threadIdx.x] = words[threadIdx.x];
  __syncwarp();
  if (threadIdx.x != 0) return;
  __threadfence();
  write(relay.order, order);
}

/// The first warp of another block runs this, once its first thread has taken the order.
__device__ void read_relayed(const ResidentKernel& resident, ResidentTask& task) {
  __shared__ std::uint32_t words[words_beside];
  __threadfence();
  if (threadIdx.x < words_beside)
    words[threadIdx.x] = load<Loads::fresh>(relays[resident.slot].words + threadIdx.x);
  __syncwarp();
  if (task.is_one_shot) read_one_shot(words, resident, task.from);
  if (task.is_strided && threadIdx.x == 0) read_strided(words, resident, task);
}

/// The first thread of the first block waits here until all blocks have executed their part. A launch must
/// not begin a collective anew that overwrites its own vector, once some blocks are done.
__device__ void await_sharers(const ResidentKernel& resident) {
  std::uint32_t& executed = relays[resident.slot].executed;
  while (atomicAdd(&executed, 0u) != gridDim.x - 1) let_others_run();
  executed = 0;
  __threadfence();
}

}  // namespace
}  // namespace penstock::transports::kernels
