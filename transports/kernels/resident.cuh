// The resident kernel: waits for orders, executes them, leaves. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/copy_piece.cuh"
#include "transports/kernels/launch_end.cuh"
#include "transports/kernels/polling.cuh"
#include "transports/kernels/reduction.cuh"
#include "transports/kernels/resident_orders.cuh"

namespace penstock::transports::kernels {
namespace {

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
        task = {nullptr, nullptr, 0, done, false, false, false, false, false, false, true, {}};
        is_there = true;
      } else if (!is_there && attendance.is_over(part)) {
        publish(resident.mailbox->leaving, resident.launch);
        is_leaving = true;
      }
      if (is_there && task.comes_beside) task.from = reinterpret_cast<const char*>(payload);
      if (is_there && is_leaving) task.is_last = true;
    }
    __syncwarp();
    const bool has_words =
        is_there && (task.comes_beside || task.is_strided || task.is_one_shot || task.is_update);
    const bool is_complete = is_there && (!has_words || __all_sync(~0u, has_come(part, task, payload)));
    __syncwarp();
    if (!is_complete) continue;
    const bool is_shared =
        task.is_one_shot ? (payload[OneShotWords::what] >> OneShotWords::is_shared & 1) != 0 : task.is_shared;
    if (has_words && is_shared) relay_with_words(resident, part, payload);
    if (threadIdx.x == 0 && task.is_strided) read_strided(payload, resident, task);
    if (threadIdx.x == 0 && task.is_update) read_update(payload, resident, task.bytes);
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
  if (task.is_update) {
    update_elements(update_task(), group);
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
  if (task.is_update) return true;
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
}  // namespace penstock::transports::kernels
