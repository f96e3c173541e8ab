#include "fiber.hpp"

#include <boost/context/fiber.hpp>
#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <boost/context/stack_traits.hpp>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define SIMULATED_GPU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMULATED_GPU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SIMULATED_GPU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIMULATED_GPU_TSAN 1
#endif
#endif

#ifdef SIMULATED_GPU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef SIMULATED_GPU_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" void __tsan_func_exit();  // what the compiler puts at the end of every function
#endif

namespace simulated_gpu {
namespace {

constexpr std::size_t stack_bytes = 64 * 1024;

/// The lowest page of a stack is a guard, which sanitizers must not write their marks for.
[[maybe_unused]] std::size_t usable_bytes(const boost::context::stack_context& stack) {
  return stack.size - boost::context::stack_traits::page_size();
}
[[maybe_unused]] char* usable_begin(const boost::context::stack_context& stack) {
  return static_cast<char*>(stack.sp) - usable_bytes(stack);
}

/// Stacks of this thread that no fiber uses: a block of 1024 threads needs as many, block after block.
class StackPool {
 public:
  ~StackPool() {
    for (auto& stack : free_) {
      forget_frames(stack);
      allocator_.deallocate(stack);
    }
  }
  boost::context::stack_context take() {
    if (free_.empty()) return allocator_.allocate();
    const auto stack = free_.back();
    free_.pop_back();
    forget_frames(stack);
    return stack;
  }
  void give_back(const boost::context::stack_context& stack) { free_.push_back(stack); }

 private:
  /// The last fiber's frames left their marks, which would stay when other memory comes to lie there.
  static void forget_frames([[maybe_unused]] const boost::context::stack_context& stack) {
#ifdef SIMULATED_GPU_ASAN
    __asan_unpoison_memory_region(usable_begin(stack), usable_bytes(stack));
#endif
  }

  boost::context::protected_fixedsize_stack allocator_{stack_bytes};
  std::vector<boost::context::stack_context> free_;
};

StackPool& stacks() {
  thread_local StackPool pool;
  return pool;
}

#ifdef SIMULATED_GPU_TSAN
/// ThreadSanitizer's notion of a fiber, of which this thread keeps those it has made: each costs a
/// millisecond.
class TsanFibers {
 public:
  ~TsanFibers() {
    for (void* fiber : free_) __tsan_destroy_fiber(fiber);
  }
  void* take() {
    if (free_.empty()) return __tsan_create_fiber(0);
    void* fiber = free_.back();
    free_.pop_back();
    return fiber;
  }
  void give_back(void* fiber) { free_.push_back(fiber); }

 private:
  std::vector<void*> free_;
};

TsanFibers& tsan_fibers() {
  thread_local TsanFibers pool;
  return pool;
}
#endif

/// The stack allocator as Boost wants it: `take` happened before.
struct PooledStack {
  boost::context::stack_context allocate() { return stacks().take(); }
  void deallocate(boost::context::stack_context& stack) { stacks().give_back(stack); }
};

}  // namespace

struct Fiber::State {
  std::function<void()> body;
  boost::context::stack_context stack = stacks().take();
  boost::context::fiber inside;   // valid while the body is left
  boost::context::fiber outside;  // valid while the body runs
  bool done = false;

#ifdef SIMULATED_GPU_ASAN
  const void* outside_stack = nullptr;
  std::size_t outside_stack_bytes = 0;
#endif
#ifdef SIMULATED_GPU_TSAN
  void* tsan_inside = tsan_fibers().take();
  void* tsan_outside = nullptr;
#endif

  void enter() {
#ifdef SIMULATED_GPU_TSAN
    tsan_outside = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(tsan_inside, 0);
#endif
#ifdef SIMULATED_GPU_ASAN
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, usable_begin(stack), usable_bytes(stack));
#endif
    inside = std::move(inside).resume();
#ifdef SIMULATED_GPU_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
#ifdef SIMULATED_GPU_TSAN
    if (done)
      __tsan_switch_to_fiber(tsan_outside, 0);  // only here: the fiber's last returns were still its own
#endif
  }

  /// First thing on the fiber's stack after each switch to it.
  void arrived([[maybe_unused]] void* fake_stack) {
#ifdef SIMULATED_GPU_ASAN
    __sanitizer_finish_switch_fiber(fake_stack, &outside_stack, &outside_stack_bytes);
#endif
  }

  /// Last thing on the fiber's stack before each switch from it. `fake_stack` is null when it is for good.
  void departing([[maybe_unused]] void** fake_stack) {
#ifdef SIMULATED_GPU_ASAN
    __sanitizer_start_switch_fiber(fake_stack, outside_stack, outside_stack_bytes);
#endif
#ifdef SIMULATED_GPU_TSAN
    if (!done) __tsan_switch_to_fiber(tsan_outside, 0);
#endif
  }
};

Fiber::Fiber(std::function<void()> body) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.body = std::move(body);
  state.inside = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(state.stack.sp, state.stack.size, state.stack),
      PooledStack{}, [&state](boost::context::fiber&& from) {
        state.arrived(nullptr);
        state.outside = std::move(from);
        state.body();
        state.done = true;
        state.departing(nullptr);
        return std::move(state.outside);
      });
#ifdef SIMULATED_GPU_TSAN
  // Boost enters its fiber_entry here, on the outside's account, and never returns from it
  __tsan_func_exit();
#endif
}

Fiber::~Fiber() {
#ifdef SIMULATED_GPU_TSAN
  tsan_fibers().give_back(state_->tsan_inside);
#endif
}

void Fiber::resume() {
  state_->enter();
}

void Fiber::leave() {
  State& state = *state_;
  void* fake_stack = nullptr;
  state.departing(&fake_stack);
  state.outside = std::move(state.outside).resume();
  state.arrived(fake_stack);
}

bool Fiber::finished() const noexcept {
  return state_->done;
}

}  // namespace simulated_gpu
