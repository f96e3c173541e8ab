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

/// Blocks that have finished, of the launch that uses the slot; 0 between launches. On a GPU each context has
/// its own.
__device__ std::uint32_t finished_blocks[slot_count];

/// True for one thread of the launch, when all others' work can be seen.
__device__ bool is_last_of_launch(std::uint32_t slot) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  if (gridDim.x == 1) return true;
  __threadfence();
  return atomicInc(&finished_blocks[slot], gridDim.x - 1) == gridDim.x - 1;  // becomes 0 again
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
  if (batch.flag != nullptr && is_last_of_launch(batch.slot)) publish(*batch.flag, 1u);
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

__device__ std::uint64_t clock_ns() {
#ifdef __CUDACC__
  std::uint64_t now = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
#else
  sched_yield();  // it is asked in a loop that waits for other threads
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

/// What the threads do next.
struct StandbyTask {
  char* to;
  const char* from;
  std::uint32_t bytes;
  std::uint32_t number;
  bool is_last;
};

__device__ char* memory_of(std::uint64_t word, const Standby& standby) {
  const std::uint64_t address = word >> address_shift;
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
  task.number = number;
  task.to = memory_of(order.to, standby);
  task.from = memory_of(order.from, standby);
  task.is_last = order.to >> address_shift == 0;
  task.bytes = task.is_last ? 0 : static_cast<std::uint32_t>(order.to & 0xffff) + 1;
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
    if (take(order, standby, done, task)) return;
    const std::uint64_t now_ns = clock_ns();
    if ((order.from & caller_inside) != 0 || (order.from & caller_bits) != caller) attended_ns = now_ns;
    caller = order.from & caller_bits;
    if (now_ns - attended_ns > standby.stay.outside || now_ns - idle_since_ns > standby.stay.idle ||
        now_ns - began_ns > standby.stay.life)
      break;
  }
  publish(standby.mailbox->leaving, standby.launch);
  // an order that the host gave before it could see that
  if (!take(read(standby.mailbox->order), standby, done, task)) task = {nullptr, nullptr, 0, done, true};
  task.is_last = true;
}

__device__ void execute(const StandbyTask& task, Crew crew) {
  copy_piece<Loads::fresh>(task.to, task.from, task.bytes, crew);
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
    if (threadIdx.x == 0) publish(standby.mailbox->done, done);
  }
}

__device__ void stand_by(const Standby& standby) {
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
    if (threadIdx.x == 0 && number != done) publish(standby.mailbox->done, number);
    done = number;
  }
  if (threadIdx.x == 0) publish(standby.mailbox->ended, standby.launch);
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
