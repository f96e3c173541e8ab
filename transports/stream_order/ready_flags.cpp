#include "transports/stream_order/ready_flags.hpp"

#include <array>
#include <mutex>
#include <new>
#include <span>
#include <utility>

#include "transports/cuda/context.hpp"
#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

/// What set_flag_memory() was given.
struct FlagMemory {
  FlagMemory(void* memory, std::size_t bytes) noexcept
      : begin(reinterpret_cast<std::uintptr_t>(memory)), size(bytes), registration(memory, bytes) {}

  std::uintptr_t begin;
  std::size_t size;
  cuda::Registration registration;
};
std::atomic<FlagMemory*> flag_memory{nullptr};

/// As the GPU sees the flag; 0: it does not. The context is current.
CUdeviceptr device_address_of(const cuda::Driver& driver, const cuda::ContextRef& context,
                              std::atomic<std::uint32_t>* flag) noexcept {
  FlagMemory* const memory = flag_memory.load(std::memory_order_acquire);
  if (memory == nullptr || reinterpret_cast<std::uintptr_t>(flag) - memory->begin >= memory->size) return 0;
  CUdeviceptr address = 0;
  if (!memory->registration.ensure(context) ||
      driver.cuMemHostGetDevicePointer(&address, flag, 0) != CUDA_SUCCESS)
    return 0;
  return address;
}

void CUDA_CB store_ready(void* flag) {
  static_cast<std::atomic<std::uint32_t>*>(flag)->store(1, std::memory_order_release);
}

/// When what the event stands for is done. The context is current.
Status signal_behind(const cuda::Driver& driver, const cuda::Event& event,
                     std::atomic<std::uint32_t>* flag) noexcept {
  const cuda::ContextRef& context = event.context();
  CUstream own = nullptr;
  if (Status made = context->stream(cuda::StreamUse::order, own); !made.ok()) return made;
  if (Status ordered = cuda::order_after(event, own); !ordered.ok()) return ordered;
  const CUdeviceptr address =
      driver.cuStreamWriteValue32 == nullptr ? 0 : device_address_of(driver, context, flag);
  if (address != 0 &&
      driver.cuStreamWriteValue32(own, address, 1, CU_STREAM_WRITE_VALUE_DEFAULT) == CUDA_SUCCESS)
    return {};
  return cuda::check(driver.cuLaunchHostFunc(own, store_ready, flag), "cuLaunchHostFunc");
}

/// True if the driver will set the flag; false if there is nothing (more) to wait for.
bool driver_will_signal(const Place& place, std::atomic<std::uint32_t>* flag) {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || !lives_on_device(place.buffer.kind)) return false;
  if (!cuda::application_is_waited_for()) return false;
  const cuda::ContextRef& context = cuda::Context::of(place.buffer);
  if (context == nullptr || cuda::application_is_idle(*context, place.handed_over_ns)) return false;
  const cuda::ContextScope scope(*context);
  if (!scope.status().ok()) return false;
  cuda::Event event;
  if (cuda::mark_application(context, event).ok() && signal_behind(*driver, event, flag).ok()) return true;
  cuda::wait_for_application(*context);
  return false;
}

/// A flag, and an event behind what the application had queued when the flag's place was handed over.
struct Mark {
  std::atomic<std::uint32_t>* flag = nullptr;
  std::uint64_t since_ns = 0;  ///< when that was
  cuda::Event event;
};

/// An error counts, too: nothing runs any more that could be waited for.
bool is_reached(const Mark& mark) noexcept {
  bool done = false;
  return mark.flag == nullptr || !mark.event.query(done).ok() || done;
}

/// Of one that is reached. Whoever copies the payload must not wait for what was queued after it.
void signal(const Mark& mark) noexcept {
  if (mark.flag == nullptr) return;
  mark.event.context()->note_idle_since(mark.since_ns);
  store_ready(mark.flag);
}

/// True if the driver will set the flag; false if there is nothing (more) to wait for.
bool driver_will_signal(const Mark& mark) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr || is_reached(mark)) return false;
  const cuda::ContextScope scope(*mark.event.context());
  if (!scope.status().ok()) return false;
  if (signal_behind(*driver, mark.event, mark.flag).ok()) return true;
  static_cast<void>(mark.event.wait());
  return false;
}

/// What signal_with_next() has marked and nobody has answered for. That an event is reached costs a question
/// (1.3 µs), that it is not 0.2; and of one context the events are reached in order. An event is reached
/// 1.5 µs after it was recorded where nothing runs (H200).
class Marks {
 public:
  [[nodiscard]] bool are_none() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  [[nodiscard]] bool are_most() const noexcept {
    return count_.load(std::memory_order_relaxed) >= marks_.size();
  }
  /// False: there is no room for it.
  [[nodiscard]] bool add(Mark&& mark) noexcept {
    const std::lock_guard lock(mutex_);
    if (are_most()) return false;
    const std::size_t count = count_.load(std::memory_order_relaxed);
    marks_[count] = std::move(mark);
    count_.store(count + 1, std::memory_order_relaxed);
    // so that the receiver need not wait for the last; the one before this is the newest that may be reached
    if (count >= worth_a_question) drop(answer(count - 1));
    return true;
  }
  /// The driver answers for what does not run out at once.
  void settle() noexcept {
    const std::lock_guard lock(mutex_);
    const std::uint64_t begin_ns = steady_now_ns();
    std::size_t answered = 0;
    std::size_t count = count_.load(std::memory_order_relaxed);
    while (answered == 0 && count != 0 && steady_now_ns() - begin_ns < shortest_work_ns)
      answered = answer(count - 1);
    for (Mark& mark : std::span(marks_).subspan(answered, count - answered)) {
      if (!driver_will_signal(mark)) signal(mark);
    }
    drop(count);
  }
  void forget(const std::atomic<std::uint32_t>* flag) noexcept {
    const std::lock_guard lock(mutex_);
    for (Mark& mark : marks_) {
      if (mark.flag == flag) mark = {};
    }
  }

 private:
  static constexpr std::size_t worth_a_question = 8;
  static constexpr std::uint64_t shortest_work_ns = 3000;

  /// Sets the flags of all up to that one if it is reached. Returns how many.
  [[nodiscard]] std::size_t answer(std::size_t newest) noexcept {
    if (!is_reached(marks_[newest])) return 0;
    for (const Mark& mark : std::span(marks_).first(newest + 1)) {
      if (mark.event.context() != marks_[newest].event.context() && !is_reached(mark)) return 0;
    }
    for (const Mark& mark : std::span(marks_).first(newest + 1)) signal(mark);
    return newest + 1;
  }
  void drop(std::size_t first_ones) noexcept {
    if (first_ones == 0) return;
    const std::size_t count = count_.load(std::memory_order_relaxed);
    std::move(marks_.begin() + static_cast<std::ptrdiff_t>(first_ones),
              marks_.begin() + static_cast<std::ptrdiff_t>(count), marks_.begin());
    for (std::size_t i = count - first_ones; i < count; ++i) marks_[i] = {};
    count_.store(count - first_ones, std::memory_order_relaxed);
  }

  CallersMutex mutex_;
  std::atomic<std::size_t> count_{0};
  std::array<Mark, 16> marks_;
};

/// Never destroyed: the driver may be gone by then.
Marks& marks() noexcept {
  alignas(Marks) static std::array<std::byte, sizeof(Marks)> memory;
  static auto& all = *new (memory.data()) Marks;
  return all;
}

/// False: the place has to be asked about.
bool mark(const Place& place, std::atomic<std::uint32_t>* flag) {
  if (marks().are_most() || cuda::driver() == nullptr || !lives_on_device(place.buffer.kind) ||
      !cuda::application_may_be_marked())
    return false;
  const cuda::ContextRef& context = cuda::Context::of(place.buffer);
  const std::uint64_t since_ns = place.handed_over_ns != 0 ? place.handed_over_ns : steady_now_ns();
  if (context == nullptr || context->idle_at_ns() >= since_ns) return false;
  const cuda::ContextScope scope(*context);
  cuda::Event event;
  return scope.status().ok() && cuda::mark_application(context, event).ok() &&
         marks().add({flag, since_ns, std::move(event)});
}

}  // namespace

void set_flag_memory(void* memory, std::size_t bytes) noexcept {
  delete flag_memory.exchange(new (std::nothrow) FlagMemory(memory, bytes), std::memory_order_acq_rel);
}

void forget_flag_memory() noexcept {
  settle_signals();
  delete flag_memory.exchange(nullptr, std::memory_order_acq_rel);
}

void signal_when_ready(const Place& place, std::atomic<std::uint32_t>* flag) noexcept {
  bool later = false;
  try {
    later = driver_will_signal(place, flag);
  } catch (const std::bad_alloc&) {
    if (const cuda::Driver* driver = cuda::driver()) driver->cuStreamSynchronize(CU_STREAM_LEGACY);
  }
  if (!later) store_ready(flag);
}

void signal_with_next(const Place& place, std::atomic<std::uint32_t>* flag) noexcept {
  try {
    if (mark(place, flag)) return;
  } catch (const std::bad_alloc&) {
    // as if it came alone
  }
  settle_signals();
  signal_when_ready(place, flag);
}

bool has_marked_signals() noexcept {
  return !marks().are_none();
}

void settle_signals() noexcept {
  if (has_marked_signals()) marks().settle();
}

void forget_signal(const std::atomic<std::uint32_t>* flag) noexcept {
  if (has_marked_signals()) marks().forget(flag);
}

}  // namespace penstock::transports
