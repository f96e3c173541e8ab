#include "kernel.hpp"

#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "fiber.hpp"

namespace simulated_gpu {
namespace {

constexpr std::uint32_t warp_threads = 32;

/// Where `expected` threads meet. Each passing is a new generation.
struct Barrier {
  std::uint32_t arrived = 0;
  std::uint32_t expected = 0;
  std::uint64_t generation = 0;

  void arrive() {
    ++arrived;
    open_if_met();
  }
  void open_if_met() {
    if (arrived == 0 || arrived < expected) return;
    arrived = 0;
    ++generation;
  }
};

struct Warp {
  std::map<std::uint32_t, Barrier> barriers;  // by the lanes that meet
  std::uint32_t returned_lanes = 0;
  std::uint64_t words[warp_threads] = {};

  [[nodiscard]] std::uint32_t expected(std::uint32_t lanes) const {
    return static_cast<std::uint32_t>(__builtin_popcount(lanes & ~returned_lanes));
  }
};

/// The block that this thread runs.
class BlockRun {
 public:
  BlockRun(const SimulatedGpuLaunch& launch, const void* arguments, SimulatedGpuBlock& block)
      : launch_(launch), arguments_(arguments), block_(block) {
    block_barrier_.expected = block.thread_count;
  }

  /// Runs all its threads to their end.
  void run();

  void wait_for_block() { wait_at(block_barrier_); }
  void wait_for_warp(std::uint32_t lanes);
  [[nodiscard]] Warp& warp();

 private:
  struct Runner {
    std::unique_ptr<Fiber> fiber;
    const Barrier* waits_at = nullptr;
    std::uint64_t generation = 0;
    std::uint32_t first_thread = 0;
    std::uint32_t thread = 0;  // whose fiber it is, once a barrier was met
    bool met_barrier = false;

    [[nodiscard]] bool may_go_on() const { return waits_at == nullptr || waits_at->generation != generation; }
  };

  void start_runner();
  void go_on(Runner& runner);
  void wait_at(Barrier& barrier);
  void own_fiber();
  [[nodiscard]] std::uint32_t running_thread() const;
  void threads_returned(std::uint32_t first, std::uint32_t end);

  const SimulatedGpuLaunch& launch_;
  const void* arguments_;
  SimulatedGpuBlock& block_;
  Barrier block_barrier_;
  std::map<std::uint32_t, Warp> warps_;
  std::list<Runner> runners_;  // those that wait, and the one that runs
  Runner* running_ = nullptr;
};

thread_local BlockRun* current_block = nullptr;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "simulated GPU: %s\n", what);
  std::abort();
}

/// Whether to reverse the order in which threads go on after a barrier. By chance, so that a kernel with a
/// barrier missing does not always run in the one order that hides it.
bool turns_order() {
  thread_local std::mt19937 random;
  return random() % 2 != 0;
}

BlockRun& this_block() {
  if (current_block == nullptr) give_up("a barrier outside of a kernel");
  return *current_block;
}

void BlockRun::run() {
  current_block = this;
  while (block_.next_thread < block_.thread_count) start_runner();
  while (!runners_.empty()) {
    bool moved = false;
    for (Runner& runner : runners_) {
      if (!runner.may_go_on()) continue;
      moved = true;
      go_on(runner);
    }
    if (!moved) give_up("threads of a block wait at different barriers");
    runners_.remove_if([](const Runner& runner) { return runner.fiber->finished(); });
    if (turns_order()) runners_.reverse();
  }
  current_block = nullptr;
}

// The new runner goes on with the block's remaining threads until none is left or one meets a barrier.
void BlockRun::start_runner() {
  Runner& runner = runners_.emplace_back();
  runner.first_thread = block_.next_thread;
  runner.fiber = std::make_unique<Fiber>([this] { launch_.run(arguments_, &block_); });
  go_on(runner);
  if (!runner.fiber->finished()) return;
  const bool others_wait = runners_.size() > 1;
  if (others_wait && !runner.met_barrier) threads_returned(runner.first_thread, block_.next_thread);
  runners_.pop_back();
}

void BlockRun::go_on(Runner& runner) {
  running_ = &runner;
  runner.waits_at = nullptr;
  runner.fiber->resume();
  running_ = nullptr;
  if (runner.fiber->finished() && runner.met_barrier) threads_returned(runner.thread, runner.thread + 1);
}

// From its first barrier on, a fiber belongs to the thread that runs on it; the threads it ran before have
// returned.
void BlockRun::own_fiber() {
  Runner& me = *running_;
  if (me.met_barrier) return;
  me.thread = running_thread();
  me.met_barrier = true;
  ++block_.runner;
  threads_returned(me.first_thread, me.thread);
}

void BlockRun::wait_at(Barrier& barrier) {
  own_fiber();
  Runner& me = *running_;
  const std::uint64_t generation = barrier.generation;
  barrier.arrive();
  if (barrier.generation != generation) return;
  me.waits_at = &barrier;
  me.generation = generation;
  me.fiber->leave();
  running_ = &me;
}

void BlockRun::wait_for_warp(std::uint32_t lanes) {
  const std::uint32_t threads = block_.thread_count - running_thread() / warp_threads * warp_threads;
  if (threads < warp_threads) lanes &= (1u << threads) - 1;  // the block's last warp is not full
  own_fiber();
  Warp& mine = warp();
  Barrier& barrier = mine.barriers[lanes];
  barrier.expected = mine.expected(lanes);
  wait_at(barrier);
}

std::uint32_t BlockRun::running_thread() const {
  return running_->met_barrier ? running_->thread : block_.next_thread - 1;
}

Warp& BlockRun::warp() {
  return warps_[running_thread() / warp_threads];
}

void BlockRun::threads_returned(std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t thread = first; thread < end; ++thread) {
    --block_barrier_.expected;
    Warp& mine = warps_[thread / warp_threads];
    mine.returned_lanes |= 1u << (thread % warp_threads);
    for (auto& [lanes, barrier] : mine.barriers) {
      barrier.expected = mine.expected(lanes);
      barrier.open_if_met();
    }
  }
  block_barrier_.open_if_met();
}

bool is_not_last(const SimulatedGpuBlock& block) {
  return block.block_index[0] + 1 < block.grid[0] || block.block_index[1] + 1 < block.grid[1] ||
         block.block_index[2] + 1 < block.grid[2];
}

}  // namespace

void run_kernel(const SimulatedGpuLaunch& launch, const void* arguments) {
  std::vector<std::jthread> others;  // only where blocks meet
  SimulatedGpuBlock block{};
  for (int i = 0; i < 3; ++i) {
    block.grid[i] = launch.grid[i];
    block.block[i] = launch.block[i];
  }
  block.thread_count = launch.block[0] * launch.block[1] * launch.block[2];
  for (std::uint32_t z = 0; z < launch.grid[2]; ++z) {
    for (std::uint32_t y = 0; y < launch.grid[1]; ++y) {
      for (std::uint32_t x = 0; x < launch.grid[0]; ++x) {
        block.block_index[0] = x;
        block.block_index[1] = y;
        block.block_index[2] = z;
        block.next_thread = 0;
        if (launch.blocks_meet != 0 && is_not_last(block)) {
          others.emplace_back(
              [&launch, arguments, block]() mutable { BlockRun(launch, arguments, block).run(); });
        } else {
          BlockRun(launch, arguments, block).run();
        }
      }
    }
  }
}

}  // namespace simulated_gpu

void simulated_gpu_block_barrier() {
  simulated_gpu::this_block().wait_for_block();
}

void simulated_gpu_warp_barrier(std::uint32_t lanes) {
  simulated_gpu::this_block().wait_for_warp(lanes);
}

std::uint64_t* simulated_gpu_warp_words() {
  return simulated_gpu::this_block().warp().words;
}
