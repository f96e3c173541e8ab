// Penstock's kernels. nvcc compiles them to the fat binary that the library carries, and the host's compiler
// for the simulated GPU; only the driver API launches them.
#include <cuda_runtime.h>

#include "transports/kernels/block_counters.cuh"
#include "transports/kernels/copy_batch.hpp"
#include "transports/kernels/list_bitmap.cuh"
#include "transports/kernels/loads.cuh"
#include "transports/kernels/one_shot_collective.cuh"
#include "transports/kernels/polling.cuh"
#include "transports/kernels/reduction.cuh"
#include "transports/kernels/resident.hpp"
#include "transports/kernels/strided_copy.cuh"

namespace penstock::transports::kernels {
namespace {

constexpr std::uint32_t warp_threads = 32;

/// Loads that each thread has in flight at a time.
template <class Word>
constexpr std::uint32_t loads_in_flight = sizeof(Word) == 16 ? 4 : 8;

/// Copies whole words. Sources may be a peer's memory, 1.5 µs away, so each thread has several loads in
/// flight: a whole piece in one round, if words are not small.
template <class Word, Loads loads>
__device__ void copy_words(char* to, const char* from, std::uint32_t count, ThreadGroup group) {
  constexpr std::uint32_t in_flight = loads_in_flight<Word>;
  auto* const target = reinterpret_cast<Word*>(to);
  const auto* const source = reinterpret_cast<const Word*>(from);
  for (std::uint32_t first = group.thread; first < count; first += in_flight * group.threads) {
    Word held[in_flight] = {};
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * group.threads < count) held[i] = load<loads>(source + first + i * group.threads);
    }
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * group.threads < count) target[first + i * group.threads] = held[i];
    }
  }
}

/// Copies bytes up to the first whole word, words, and bytes after the last. `to` and `from` must be aligned
/// alike.
template <class Word, Loads loads>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes, ThreadGroup group) {
  const auto misaligned = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) % sizeof(Word));
  const std::uint32_t head = misaligned < bytes ? misaligned : bytes;
  const auto words = static_cast<std::uint32_t>((bytes - head) / sizeof(Word));
  const auto body_end = static_cast<std::uint32_t>(head + words * sizeof(Word));
  const bool in_head = group.thread < head;
  const bool in_tail = group.thread < bytes - body_end;
  // loaded before the words and stored after them, so that no thread waits for these loads alone
  const char head_byte = in_head ? load<loads>(from + group.thread) : char{};
  const char tail_byte = in_tail ? load<loads>(from + body_end + group.thread) : char{};
  copy_words<Word, loads>(to + head, from + head, words, group);
  if (in_head) to[group.thread] = head_byte;
  if (in_tail) to[body_end + group.thread] = tail_byte;
}

template <Loads loads>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes, ThreadGroup group) {
  const std::uintptr_t difference =
      reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
  if (difference % 16 == 0) {
    copy_piece<Word16, loads>(to, from, bytes, group);
  } else if (difference % 8 == 0) {
    copy_piece<std::uint64_t, loads>(to, from, bytes, group);
  } else if (difference % 4 == 0) {
    copy_piece<std::uint32_t, loads>(to, from, bytes, group);
  } else if (difference % 2 == 0) {
    copy_piece<std::uint16_t, loads>(to, from, bytes, group);
  } else {
    copy_piece<std::uint8_t, loads>(to, from, bytes, group);
  }
}

/// Returns true for one thread of the launch, when it can see all others' work.
__device__ bool is_last_of_launch(std::uint32_t& blocks) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  if (gridDim.x == 1) return true;
  __threadfence();
  return atomicInc(&blocks, gridDim.x - 1) == gridDim.x - 1;  // becomes 0 again
}

/// Writes to a word that the host polls. A reader of the value sees all that this thread has seen.
template <class Word>
__device__ void publish(Word& word, Word value) {
#ifdef __CUDACC__
  __threadfence_system();
  *static_cast<volatile Word*>(&word) = value;
#else
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);  // ThreadSanitizer knows no fences
#endif
}

/// All threads of the launch run this, after their work.
__device__ void raise_at_end(std::uint32_t* flag, std::uint32_t slot) {
  if (flag != nullptr && is_last_of_launch(block_counters[slot].finished)) publish(*flag, 1u);
}

/// The same for a launch whose threads may have given up.
__device__ void conclude_one_shot(const OneShotCollective& collective) {
  if (!is_last_of_launch(block_counters[collective.slot].finished)) return;
  const std::uint32_t why = atomicExch(&block_counters[collective.slot].has_given_up, 0u);
  const OneShotOutcome outcome = (why & gave_up_on_sizes) != 0 ? one_shot_mismatched
                                 : why != 0                    ? one_shot_incomplete
                                                               : one_shot_complete;
  publish(*collective.flag, static_cast<std::uint32_t>(outcome));
}

/// Returns the item of a batch that this block of threads copies: the last one whose first block is not after
/// it.
template <class Batch>
__device__ std::uint32_t item_of_block(const Batch& batch) {
  std::uint32_t mine = 0;
  for (std::uint32_t end = batch.count; end - mine > 1;) {
    const std::uint32_t middle = (mine + end) / 2;
    (batch.first_block[middle] <= blockIdx.x ? mine : end) = middle;
  }
  return mine;
}

template <std::uint32_t capacity>
__device__ void copy_batch(const CopyBatch<capacity>& batch) {
  const std::uint32_t mine = item_of_block(batch);
  const auto& item = batch.items[mine];
  const std::uint64_t begin = std::uint64_t{blockIdx.x - batch.first_block[mine]} * piece_bytes;
  const std::uint64_t left = item.bytes - begin;
  copy_piece<Loads::cached>(static_cast<char*>(item.to) + begin, static_cast<const char*>(item.from) + begin,
                            left < piece_bytes ? static_cast<std::uint32_t>(left) : piece_bytes,
                            all_of_block());
  raise_at_end(batch.flag, batch.slot);
}

template <std::uint32_t capacity>
__device__ void strided_copy_batch(const StridedBatch<capacity>& batch) {
  const std::uint32_t mine = item_of_block(batch);
  copy_strided<Loads::cached>(batch.items[mine], blockIdx.x - batch.first_block[mine], 1, all_of_block());
  raise_at_end(batch.flag, batch.slot);
}

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
  const std::uint32_t bytes = task.is_strided || task.is_one_shot ? largest_beside : task.bytes;
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

/// Decides when the kernel leaves; only the first thread uses it.
class Attendance {
 public:
  __device__ Attendance(const ResidentKernel& resident, std::uint64_t began_ns, std::uint32_t done)
      : resident_(resident),
        began_ns_(began_ns),
        done_(done),
        idle_since_ns_(threadIdx.x == 0 ? clock_ns() : 0),
        attended_ns_(idle_since_ns_) {}

  /// Called after a poll without an order.
  __device__ bool is_over(const ResidentOrder& order) {
    const std::uint64_t now_ns = clock_ns();
    if ((order.from & caller_inside) != 0 || (order.from & caller_bits) != caller_) attended_ns_ = now_ns;
    caller_ = order.from & caller_bits;
    return now_ns - attended_ns_ > resident_.stay.outside || now_ns - idle_since_ns_ > resident_.stay.idle ||
           now_ns - began_ns_ > resident_.stay.life || done_ - resident_.done >= most_orders;
  }

 private:
  const ResidentKernel& resident_;
  const std::uint64_t began_ns_;
  const std::uint32_t done_;
  const std::uint64_t idle_since_ns_;
  std::uint64_t attended_ns_;
  std::uint64_t caller_ = 0;
};

/// Waits for an order, or until it is time to leave. It polls once more then, for an order that the host gave
/// before it could see that. The first warp runs this.
__device__ void await_task(const ResidentKernel& resident, std::uint64_t began_ns, std::uint32_t done,
                           ResidentTask& task) {
  alignas(16) __shared__ std::uint32_t payload[words_beside];
  __shared__ bool is_there;
  Attendance attendance(resident, began_ns, done);
  for (bool is_leaving = false;;) {
    const ResidentOrder part = look(*resident.mailbox);
    if (threadIdx.x == 0) {
      is_there = take_and_relay(part, resident, done, task);
      if (!is_there && is_leaving) {
        task = {nullptr, nullptr, 0, done, false, false, false, false, false, true, {}};
        is_there = true;
      } else if (!is_there && attendance.is_over(part)) {
        publish(resident.mailbox->leaving, resident.launch);
        is_leaving = true;
      }
      if (is_there && task.comes_beside) task.from = reinterpret_cast<const char*>(payload);
      if (is_there && is_leaving) task.is_last = true;
    }
    __syncwarp();
    const bool has_words = is_there && (task.comes_beside || task.is_strided || task.is_one_shot);
    const bool is_complete = is_there && (!has_words || __all_sync(~0u, has_come(part, task, payload)));
    __syncwarp();
    if (!is_complete) continue;
    const bool is_shared =
        task.is_one_shot ? (payload[OneShotWords::what] >> OneShotWords::is_shared & 1) != 0 : task.is_shared;
    if (has_words && is_shared) relay_with_words(resident, part, payload);
    if (threadIdx.x == 0 && task.is_strided) read_strided(payload, resident, task);
    if (task.is_one_shot) read_one_shot(payload, resident, task.from);
    __syncwarp();  // the other threads may use at once what the first one has read
    return;
  }
}

/// Loads the next four of `bytes`, or as many as there are.
__device__ std::uint32_t load_stamped_bytes(const char* from, std::uint32_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(from) % stamped_bytes == 0 && bytes >= stamped_bytes)
    return load<Loads::fresh>(reinterpret_cast<const std::uint32_t*>(from));
  std::uint32_t data = 0;
  for (std::uint32_t i = 0; i < stamped_bytes && i < bytes; ++i)
    data |= std::uint32_t{load<Loads::fresh>(reinterpret_cast<const std::uint8_t*>(from + i))} << 8 * i;
  return data;
}

/// Writes stamped words, which show their own arrival; each thread writes two at a time.
__device__ void copy_stamped(std::uint64_t* to, const char* from, std::uint32_t bytes, std::uint32_t count,
                             ThreadGroup group) {
  const std::uint64_t stamp = std::uint64_t{count} << stamp_shift;
  for (std::uint32_t begin = 2 * stamped_bytes * group.thread; begin < bytes;
       begin += 2 * stamped_bytes * group.threads) {
    const std::uint32_t middle = begin + stamped_bytes;
    const std::uint32_t first = load_stamped_bytes(from + begin, bytes - begin);
    const std::uint32_t second = middle < bytes ? load_stamped_bytes(from + middle, bytes - middle) : 0;
    write_stamped(to + begin / stamped_bytes, stamp | first, stamp | second);
  }
}

/// Returns all threads of the launch, numbered so that work for few of them is spread over the blocks.
__device__ ThreadGroup spread_over_blocks() {
  const std::uint32_t warp = threadIdx.x / warp_threads * gridDim.x + blockIdx.x;
  return {warp * warp_threads + threadIdx.x % warp_threads, gridDim.x * blockDim.x};
}

/// Executes the task; of a shared one the block's part: whole rounds of its loads, if there are so many.
__device__ void execute(const ResidentKernel& resident, const ResidentTask& task, ThreadGroup group) {
  if (task.goes_down_stamped) {
    copy_stamped(resident.mailbox->down, task.from, task.bytes, task.count, group);
    return;
  }
  if (task.is_strided) {
    copy_strided<Loads::fresh>(task.strided, 0, UINT32_MAX, task.is_shared ? spread_over_blocks() : group);
    return;
  }
  if (task.is_one_shot) {
    run_one_shot(one_shot_task().type, one_shot_task().collective, block_counters[resident.slot].has_given_up,
                 one_shot_task().is_shared ? spread_over_blocks() : group);
    return;
  }
  constexpr std::uint32_t line = 128;
  const std::uint32_t sharers = task.is_shared ? gridDim.x : 1;
  const std::uint32_t part = ((task.bytes + sharers - 1) / sharers + line - 1) / line * line;
  const std::uint32_t begin = task.is_shared ? blockIdx.x * part : 0;
  if (begin >= task.bytes) return;
  const std::uint32_t left = task.bytes - begin;
  copy_piece<Loads::fresh>(task.to + begin, task.from + begin, left < part ? left : part, group);
}

/// Returns whether one warp does the task in one round of loads.
__device__ bool is_small(const ResidentTask& task) {
  constexpr std::uint32_t one_round = warp_threads * loads_in_flight<Word16> * sizeof(Word16);
  constexpr std::uint32_t one_round_stamped = warp_threads * 2 * stamped_bytes;
  constexpr std::uint32_t one_line_each = warp_threads * one_shot_line_bytes;
  if (task.is_strided) return false;
  if (task.is_one_shot) return task.bytes <= one_line_each && !one_shot_task().is_shared;
  return task.bytes <= (task.goes_down_stamped ? one_round_stamped : one_round);
}

/// The properties of a task that are needed after its execution. All threads read them before the barrier
/// behind the task, since the first one takes the next task as soon as it is past that.
struct TaskEnd {
  std::uint32_t count;
  bool is_one_shot;
  bool is_one_shot_shared;
  bool speaks_for_itself;

  __device__ explicit TaskEnd(const ResidentTask& task)
      : count(task.count),
        is_one_shot(task.is_one_shot),
        is_one_shot_shared(task.is_one_shot && one_shot_task().is_shared),
        speaks_for_itself(task.goes_down_stamped) {}
};

/// The first thread runs this, when all others have done their part.
__device__ void publish_done(const ResidentKernel& resident, const TaskEnd& end) {
  if (end.is_one_shot && atomicExch(&block_counters[resident.slot].has_given_up, 0u) != 0)
    publish(resident.mailbox->incomplete, end.count);
  publish(resident.mailbox->done[0], end.count);
}

/// The first warp executes small tasks alone, as a barrier of the whole block costs 0.2 µs. Returns with a
/// task for all.
__device__ void execute_small_tasks(const ResidentKernel& resident, std::uint64_t began_ns,
                                    std::uint32_t& done, ResidentTask& task) {
  for (;;) {
    await_task(resident, began_ns, done, task);
    if (task.is_last || !is_small(task)) return;
    execute(resident, task, {threadIdx.x, warp_threads});
    const TaskEnd end(task);
    done = end.count;
    __syncwarp();
    if (threadIdx.x == 0 && !end.speaks_for_itself) publish_done(resident, end);
  }
}

/// The first block runs this: it takes the host's orders.
__device__ void lead(const ResidentKernel& resident) {
  __shared__ ResidentTask task;
  std::uint32_t done = resident.done;
  const std::uint64_t began_ns = clock_ns();
  if (threadIdx.x == 0) publish(resident.mailbox->running, resident.launch);
  for (bool is_last = false; !is_last;) {
    if (threadIdx.x < warp_threads) execute_small_tasks(resident, began_ns, done, task);
    __syncthreads();
    is_last = task.is_last;
    const TaskEnd end(task);
    execute(resident, task, all_of_block());
    __syncthreads();
    if (threadIdx.x == 0 && end.is_one_shot_shared) await_sharers(resident);
    if (threadIdx.x == 0 && end.count != done && !end.speaks_for_itself) publish_done(resident, end);
    done = end.count;
  }
  const std::uint64_t next = (done + 1) & number_mask;
  if (threadIdx.x == 0 && gridDim.x > 1) write(relays[resident.slot].order, {next, (next & 1) << 16});
}

/// The other blocks run this: they take what the first one relays.
__device__ void follow(const ResidentKernel& resident) {
  __shared__ ResidentTask task;
  const ResidentOrder& order = relays[resident.slot].order;
  std::uint32_t done = resident.done;
  for (;;) {
    if (threadIdx.x < warp_threads) {
      while (threadIdx.x == 0 && !take(read(order), resident, done, task)) let_others_run();
      __syncwarp();
      if (task.is_one_shot || task.is_strided) read_relayed(resident, task);
    }
    __syncthreads();
    if (task.is_last) return;
    const TaskEnd end(task);
    done = end.count;
    execute(resident, task, all_of_block());
    __syncthreads();
    if (threadIdx.x != 0) continue;
    if (end.is_one_shot) {
      __threadfence();
      atomicAdd(&relays[resident.slot].executed, 1u);
    } else {
      publish(resident.mailbox->done[blockIdx.x], done);
    }
  }
}

/// Each block of several runs this. Returns when relayed orders are safe to take.
__device__ void join(const ResidentKernel& resident) {
  ResidentOrder& relayed = relays[resident.slot].order;
  if (threadIdx.x == 0 && blockIdx.x == 0) write(relayed, {resident.done & number_mask, 0});
  if (threadIdx.x == 0) {
    while (read(relayed).from == nothing_relayed) let_others_run();
  }
  if (is_last_of_launch(block_counters[resident.slot].begun))
    publish(resident.mailbox->sharing, resident.launch);
}

__device__ void stand_by(const ResidentKernel& resident) {
  if (gridDim.x > 1) join(resident);
  if (blockIdx.x == 0) {
    lead(resident);
  } else {
    follow(resident);
  }
  if (!is_last_of_launch(block_counters[resident.slot].finished)) return;
  relays[resident.slot] = {};
  publish(resident.mailbox->ended, resident.launch);
}

}  // namespace

#define PENSTOCK_COPY_KERNEL(capacity)                                              \
  extern "C" __global__ void __launch_bounds__(most_threads)                        \
      penstock_copy_##capacity(const __grid_constant__ CopyBatch<capacity> batch) { \
    copy_batch(batch);                                                              \
  }
PENSTOCK_COPY_CAPACITIES(PENSTOCK_COPY_KERNEL)

#define PENSTOCK_STRIDED_COPY_KERNEL(capacity)                                                 \
  extern "C" __global__ void __launch_bounds__(most_threads)                                   \
      penstock_strided_copy_##capacity(const __grid_constant__ StridedBatch<capacity> batch) { \
    strided_copy_batch(batch);                                                                 \
  }
PENSTOCK_STRIDED_CAPACITIES(PENSTOCK_STRIDED_COPY_KERNEL)

extern "C" __global__ void __launch_bounds__(most_threads)
    penstock_gather_runs(const __grid_constant__ RunsCopy copy) {
  copy_runs<true>(copy);
}
extern "C" __global__ void __launch_bounds__(most_threads)
    penstock_scatter_runs(const __grid_constant__ RunsCopy copy) {
  copy_runs<false>(copy);
}

#define PENSTOCK_REDUCTION_KERNEL(name, Type)                               \
  extern "C" __global__ void __launch_bounds__(most_threads)                \
      penstock_reduce_##name(const __grid_constant__ Reduction reduction) { \
    reduce<Type>(reduction);                                                \
    raise_at_end(reduction.flag, reduction.slot);                           \
  }
PENSTOCK_REDUCED_TYPES(PENSTOCK_REDUCTION_KERNEL)

#define PENSTOCK_FUSED_KERNEL(name, run)                                               \
  extern "C" __global__ void __launch_bounds__(most_threads)                           \
      penstock_one_shot_##name(const __grid_constant__ OneShotCollective collective) { \
    run(collective, block_counters[collective.slot].has_given_up, all_of_launch());    \
    conclude_one_shot(collective);                                                     \
  }
#define PENSTOCK_FUSED_REDUCTION_KERNEL(name, Type) PENSTOCK_FUSED_KERNEL(name, (reduce_one_shot<Type, 2>))
PENSTOCK_REDUCED_TYPES(PENSTOCK_FUSED_REDUCTION_KERNEL)
PENSTOCK_FUSED_KERNEL(blocks, place_one_shot)

#define PENSTOCK_LIST_KERNELS(bits)                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_pack_list_##bits(const __grid_constant__ ListPacking packing) {       \
    pack_list<std::uint##bits##_t>(packing);                                         \
    if (is_last_of_launch(block_counters[packing.slot].finished))                    \
      publish(*packing.flag, conclude_packing<std::uint##bits##_t>(packing));        \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_measure_set_##bits(const __grid_constant__ ListPacking packing) {     \
    measure_set<std::uint##bits##_t>(packing);                                       \
    if (is_last_of_launch(block_counters[packing.slot].finished))                    \
      conclude_measuring<std::uint##bits##_t>(packing);                              \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_fill_set_##bits(const __grid_constant__ ListPacking packing) {        \
    fill_set<std::uint##bits##_t>(packing);                                          \
  }                                                                                  \
  extern "C" __global__ void __launch_bounds__(list_threads)                         \
      penstock_unpack_list_##bits(const __grid_constant__ ListUnpacking unpacking) { \
    unpack_list<std::uint##bits##_t>(unpacking);                                     \
    if (is_last_of_launch(block_counters[unpacking.slot].finished))                  \
      publish(*unpacking.flag, conclude_unpacking(unpacking));                       \
  }
PENSTOCK_LIST_KERNELS(32)
PENSTOCK_LIST_KERNELS(64)

extern "C" __global__ void __launch_bounds__(list_threads)
    penstock_place_set(const __grid_constant__ ListPacking packing) {
  count_set(packing);
  __shared__ bool is_last;
  const bool is_last_thread = is_last_of_launch(block_counters[packing.slot].finished);
  if (threadIdx.x == 0) is_last = is_last_thread;
  __syncthreads();
  if (!is_last) return;
  const std::uint32_t said = place_set(packing);
  if (is_last_thread) publish(*packing.flag, said);
}

extern "C" __global__ void __launch_bounds__(resident_threads)
    penstock_resident(const __grid_constant__ ResidentKernel resident) {
  stand_by(resident);
}

}  // namespace penstock::transports::kernels
