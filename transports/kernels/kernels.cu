// Penstock's kernels. Compiled by nvcc to the fat binary that the library carries, and as plain C++ for the
// simulated GPU; nothing but the driver API launches them.
#include <cuda_runtime.h>

#ifndef __CUDACC__
#include <sched.h>

#include <chrono>
#endif

#include "transports/kernels/copy_batch.hpp"
#include "transports/kernels/standby.hpp"

namespace penstock::transports::kernels {
namespace {

struct alignas(16) Word16 {
  std::uint64_t low, high;
};

/// Threads that copy together.
struct Crew {
  std::uint32_t thread;
  std::uint32_t threads;
};
__device__ Crew all_of_block() {
  return {threadIdx.x, blockDim.x};
}

enum class Loads : std::uint8_t {
  cached,
  fresh  ///< for a kernel that outlives what it has read: not from the L1 cache, and in program order
};

#ifdef __CUDACC__
/// Not __ldcv: in a loop an H200 answers it from its L1 cache, for ever.
__device__ Word16 load_fresh(const void* from) {
  Word16 word;
  asm volatile("ld.relaxed.sys.v2.u64 {%0, %1}, [%2];"
               : "=l"(word.low), "=l"(word.high)
               : "l"(from)
               : "memory");
  return word;
}
#endif

template <Loads loads, class Word>
__device__ Word load(const Word* from) {
#ifdef __CUDACC__
  if constexpr (loads == Loads::fresh && sizeof(Word) == 16) {
    return load_fresh(from);
  } else if constexpr (loads == Loads::fresh) {
    return *static_cast<const volatile Word*>(from);
  }
#endif
  return *from;
}

constexpr std::uint32_t warp_threads = 32;

/// Loads that each thread has under way at a time.
template <class Word>
constexpr std::uint32_t loads_in_flight = sizeof(Word) == 16 ? 4 : 8;

/// Copies whole words. Sources may be a peer's memory, 1.5 µs away, so each thread has several loads in
/// flight: in one round, if words are not small, a whole piece.
template <class Word, Loads loads>
__device__ void copy_words(char* to, const char* from, std::uint32_t count, Crew crew) {
  constexpr std::uint32_t in_flight = loads_in_flight<Word>;
  auto* const target = reinterpret_cast<Word*>(to);
  const auto* const source = reinterpret_cast<const Word*>(from);
  for (std::uint32_t first = crew.thread; first < count; first += in_flight * crew.threads) {
    Word held[in_flight] = {};
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * crew.threads < count) held[i] = load<loads>(source + first + i * crew.threads);
    }
    for (std::uint32_t i = 0; i < in_flight; ++i) {
      if (first + i * crew.threads < count) target[first + i * crew.threads] = held[i];
    }
  }
}

/// `to` and `from` are alike in alignment: bytes up to the first whole word, words, bytes after the last.
template <class Word, Loads loads>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes, Crew crew) {
  const auto misaligned = static_cast<std::uint32_t>(-reinterpret_cast<std::uintptr_t>(to) % sizeof(Word));
  const std::uint32_t head = misaligned < bytes ? misaligned : bytes;
  const auto words = static_cast<std::uint32_t>((bytes - head) / sizeof(Word));
  const auto body_end = static_cast<std::uint32_t>(head + words * sizeof(Word));
  const bool in_head = crew.thread < head;
  const bool in_tail = crew.thread < bytes - body_end;
  // loaded before the words and stored after them, so that nobody waits for these loads alone
  const char head_byte = in_head ? load<loads>(from + crew.thread) : char{};
  const char tail_byte = in_tail ? load<loads>(from + body_end + crew.thread) : char{};
  copy_words<Word, loads>(to + head, from + head, words, crew);
  if (in_head) to[crew.thread] = head_byte;
  if (in_tail) to[body_end + crew.thread] = tail_byte;
}

template <Loads loads>
__device__ void copy_piece(char* to, const char* from, std::uint32_t bytes, Crew crew) {
  const std::uintptr_t difference =
      reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from);
  if (difference % 16 == 0) {
    copy_piece<Word16, loads>(to, from, bytes, crew);
  } else if (difference % 8 == 0) {
    copy_piece<std::uint64_t, loads>(to, from, bytes, crew);
  } else if (difference % 4 == 0) {
    copy_piece<std::uint32_t, loads>(to, from, bytes, crew);
  } else if (difference % 2 == 0) {
    copy_piece<std::uint16_t, loads>(to, from, bytes, crew);
  } else {
    copy_piece<std::uint8_t, loads>(to, from, bytes, crew);
  }
}

/// Blocks that have come to a point, of the launch that uses the slot; 0 between launches. On a GPU each
/// context has its own.
struct BlockCounters {
  std::uint32_t finished;
  std::uint32_t begun;
};
__device__ BlockCounters block_counters[slot_count];

/// True for one thread of the launch, when all others' work can be seen.
__device__ bool is_last_of_launch(std::uint32_t& blocks) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  if (gridDim.x == 1) return true;
  __threadfence();
  return atomicInc(&blocks, gridDim.x - 1) == gridDim.x - 1;  // becomes 0 again
}

/// To a word that the host polls. Whoever sees the value sees all that this thread has seen.
template <class Word>
__device__ void publish(Word& word, Word value) {
#ifdef __CUDACC__
  __threadfence_system();
  *static_cast<volatile Word*>(&word) = value;
#else
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);  // ThreadSanitizer knows no fences
#endif
}

template <std::uint32_t capacity>
__device__ void copy_batch(const CopyBatch<capacity>& batch) {
  std::uint32_t mine = 0;  // the last item whose first block is not after this one
  for (std::uint32_t end = batch.count; end - mine > 1;) {
    const std::uint32_t middle = (mine + end) / 2;
    (batch.first_block[middle] <= blockIdx.x ? mine : end) = middle;
  }
  const auto& item = batch.items[mine];
  const std::uint64_t begin = std::uint64_t{blockIdx.x - batch.first_block[mine]} * piece_bytes;
  const std::uint64_t left = item.bytes - begin;
  copy_piece<Loads::cached>(static_cast<char*>(item.to) + begin, static_cast<const char*>(item.from) + begin,
                            left < piece_bytes ? static_cast<std::uint32_t>(left) : piece_bytes,
                            all_of_block());
  if (batch.flag != nullptr && is_last_of_launch(block_counters[batch.slot].finished))
    publish(*batch.flag, 1u);
}

__device__ StandbyOrder read(const StandbyOrder& order) {
#ifdef __CUDACC__
  const Word16 both = load_fresh(&order);
  return {both.low, both.high};
#else
  const std::uint64_t from = __atomic_load_n(&order.from, __ATOMIC_ACQUIRE);
  return {from, __atomic_load_n(&order.to, __ATOMIC_RELAXED)};
#endif
}

/// For other blocks.
__device__ void write(StandbyOrder& order, const StandbyOrder& value) {
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

/// In loops that wait. A GPU's threads all run.
__device__ void let_others_run() {
#ifndef __CUDACC__
  sched_yield();
#endif
}

__device__ std::uint64_t clock_ns() {
#ifdef __CUDACC__
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  let_others_run();  // it is asked in a loop that waits for them
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// What the threads do next.
struct StandbyTask {
  char* to;
  const char* from;
  std::uint32_t bytes;
  std::uint32_t number;
  bool is_shared;
  bool is_last;
};

__device__ char* memory_of(std::uint64_t address, const Standby& standby) {
  const std::uint64_t distance = reinterpret_cast<std::uint64_t>(standby.known) - ~standby.known_inverted;
  return address == bounce_address ? standby.bounce : reinterpret_cast<char*>(address + distance);
}

/// True if the host has ordered something after `done`. What the source holds is loaded after the order that
/// names it, as its address depends on that.
__device__ bool take(const StandbyOrder& order, const Standby& standby, std::uint32_t done,
                     StandbyTask& task) {
  const auto number = static_cast<std::uint32_t>(order.from & number_mask);
  const bool belong_together = (order.to >> 16 & 1) == (number & 1);
  if (number == done || !belong_together) return false;
  std::uint64_t to = order.to >> address_shift;
  std::uint64_t from = order.from >> address_shift;
  std::uint64_t last_byte = order.to & 0xffff;
  task.number = number;
  task.is_shared = (order.from & shared_bit) != 0;
  task.is_last = to == 0;
  if (task.is_shared) {
    last_byte |= from % shared_alignment << 16 | to % shared_alignment << 20;
    from -= from % shared_alignment;
    to -= to % shared_alignment;
  }
  task.to = memory_of(to, standby);
  task.from = memory_of(from, standby);
  task.bytes = task.is_last ? 0 : static_cast<std::uint32_t>(last_byte) + 1;
  return true;
}

/// What the first block tells the others: shared orders, as it found them, and at last to leave. Begins with
/// the number of an order that all have done, so that of the next, too, nobody takes one word with the other
/// of before.
constexpr std::uint64_t nothing_relayed = UINT64_MAX;
struct Relay {
  StandbyOrder order = {nothing_relayed, 0};  ///< between launches
};
__device__ Relay relays[slot_count];

/// By the first block: takes an order of the host's, and tells the others.
__device__ bool take_and_relay(const StandbyOrder& order, const Standby& standby, std::uint32_t done,
                               StandbyTask& task) {
  if (!take(order, standby, done, task)) return false;
  if (task.is_shared) write(relays[standby.slot].order, order);
  return true;
}

/// Waits for an order, or until it is time to leave. One thread.
__device__ void await_task(const Standby& standby, std::uint64_t began_ns, std::uint32_t done,
                           StandbyTask& task) {
  const std::uint64_t idle_since_ns = clock_ns();
  std::uint64_t attended_ns = idle_since_ns;
  std::uint64_t caller = 0;
  for (;;) {
    const StandbyOrder order = read(standby.mailbox->order);
    if (take_and_relay(order, standby, done, task)) return;
    const std::uint64_t now_ns = clock_ns();
    if ((order.from & caller_inside) != 0 || (order.from & caller_bits) != caller) attended_ns = now_ns;
    caller = order.from & caller_bits;
    if (now_ns - attended_ns > standby.stay.outside || now_ns - idle_since_ns > standby.stay.idle ||
        now_ns - began_ns > standby.stay.life || ((done - standby.done) & number_mask) >= most_orders)
      break;
  }
  publish(standby.mailbox->leaving, standby.launch);
  // an order that the host gave before it could see that
  if (!take_and_relay(read(standby.mailbox->order), standby, done, task))
    task = {nullptr, nullptr, 0, done, false, true};
  task.is_last = true;
}

/// Of a shared one the block's part: whole rounds of its loads, where there are so many.
__device__ void execute(const StandbyTask& task, Crew crew) {
  constexpr std::uint32_t line = 128;
  const std::uint32_t sharers = task.is_shared ? gridDim.x : 1;
  const std::uint32_t part = ((task.bytes + sharers - 1) / sharers + line - 1) / line * line;
  const std::uint32_t begin = task.is_shared ? blockIdx.x * part : 0;
  if (begin >= task.bytes) return;
  const std::uint32_t left = task.bytes - begin;
  copy_piece<Loads::fresh>(task.to + begin, task.from + begin, left < part ? left : part, crew);
}

/// Of the first warp: what is small it does alone, as a barrier of the whole block costs 0.2 µs. Returns with
/// a task for all.
__device__ void execute_small_tasks(const Standby& standby, std::uint64_t began_ns, std::uint32_t& done,
                                    StandbyTask& task) {
  constexpr std::uint32_t one_round = warp_threads * loads_in_flight<Word16> * sizeof(Word16);
  for (;;) {
    if (threadIdx.x == 0) await_task(standby, began_ns, done, task);
    __syncwarp();
    if (task.is_last || task.bytes > one_round) return;
    execute(task, {threadIdx.x, warp_threads});
    done = task.number;
    __syncwarp();
    if (threadIdx.x == 0) publish(standby.mailbox->done[0], done);
  }
}

/// The first block: takes the host's orders.
__device__ void lead(const Standby& standby) {
  __shared__ StandbyTask task;
  std::uint32_t done = standby.done;
  const std::uint64_t began_ns = clock_ns();
  if (threadIdx.x == 0) publish(standby.mailbox->running, standby.launch);
  for (bool is_last = false; !is_last;) {
    if (threadIdx.x < warp_threads) execute_small_tasks(standby, began_ns, done, task);
    __syncthreads();
    is_last = task.is_last;
    const std::uint32_t number = task.number;
    execute(task, all_of_block());
    __syncthreads();
    if (threadIdx.x == 0 && number != done) publish(standby.mailbox->done[0], number);
    done = number;
  }
  const std::uint64_t next = (done + 1) & number_mask;
  if (threadIdx.x == 0 && gridDim.x > 1) write(relays[standby.slot].order, {next, (next & 1) << 16});
}

/// The other blocks: take what the first one relays.
__device__ void follow(const Standby& standby) {
  __shared__ StandbyTask task;
  const StandbyOrder& order = relays[standby.slot].order;
  std::uint32_t done = standby.done;
  for (;;) {
    if (threadIdx.x == 0) {
      while (!take(read(order), standby, done, task)) let_others_run();
    }
    __syncthreads();
    if (task.is_last) return;
    done = task.number;
    execute(task, all_of_block());
    __syncthreads();
    if (threadIdx.x == 0) publish(standby.mailbox->done[blockIdx.x], done);
  }
}

/// Of each block of several: returns when orders that the first one relays are safe to take.
__device__ void join(const Standby& standby) {
  StandbyOrder& relayed = relays[standby.slot].order;
  if (threadIdx.x == 0 && blockIdx.x == 0) write(relayed, {standby.done, 0});
  if (threadIdx.x == 0) {
    while (read(relayed).from == nothing_relayed) let_others_run();
  }
  if (is_last_of_launch(block_counters[standby.slot].begun))
    publish(standby.mailbox->sharing, standby.launch);
}

__device__ void stand_by(const Standby& standby) {
  if (gridDim.x > 1) join(standby);
  if (blockIdx.x == 0) {
    lead(standby);
  } else {
    follow(standby);
  }
  if (!is_last_of_launch(block_counters[standby.slot].finished)) return;
  relays[standby.slot] = {};
  publish(standby.mailbox->ended, standby.launch);
}

}  // namespace

#define PENSTOCK_COPY_KERNEL(capacity)                                              \
  extern "C" __global__ void __launch_bounds__(most_threads)                        \
      penstock_copy_##capacity(const __grid_constant__ CopyBatch<capacity> batch) { \
    copy_batch(batch);                                                              \
  }
PENSTOCK_COPY_CAPACITIES(PENSTOCK_COPY_KERNEL)

extern "C" __global__ void __launch_bounds__(standby_threads)
    penstock_standby(const __grid_constant__ Standby standby) {
  stand_by(standby);
}

}  // namespace penstock::transports::kernels
