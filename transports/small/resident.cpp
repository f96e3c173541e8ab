#include "transports/small/resident.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "transports/cuda/shared_gpus.hpp"
#include "transports/host/callers_mutex.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"
#include "transports/small/kernel_pull.hpp"
#include "transports/small/resident_copy.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::transports {
namespace {

/// An idle kernel stays this long while the program's thread is outside of MPI calls, where it may wait for
/// the device, or if the program has several threads. This is enough for a program that only counts its
/// messages, and less than a cudaDeviceSynchronize takes by itself (6.5 µs).
constexpr std::uint64_t outside_ns = 4'000;
/// The longest that a kernel stays, in multiples of the linger time: other threads may wait for the device,
/// too.
constexpr std::uint64_t most_lingers = 20;
/// When the library ends, a GPU whose kernel stays longer than this is taken to hang.
constexpr std::uint64_t timeout_ns = 1'000'000'000;

/// The kernel is launched after this many small copies in a row, each within the linger time after the last.
/// The number doubles each time that a launch was hardly used: a launch keeps the caller for some µs, an
/// order saves 4.
constexpr std::uint32_t least_quick_copies = 8;
constexpr std::uint32_t most_quick_copies = 4096;
constexpr std::uint32_t least_orders = 8;

std::atomic<std::uint64_t> linger{0};

/// The resident kernel of one context. The registry's mutex guards all members.
struct ContextKernel {
  explicit ContextKernel(cuda::ContextRef context) noexcept : copy(std::move(context)) {}

  ResidentCopy copy;
  std::uint64_t last_copy_ns = 0;
  std::uint32_t quick_copies = 0;  ///< in a row
  bool has_shared = false;         ///< several blocks would have shared one of them
  std::uint32_t needed = least_quick_copies;
  bool is_launched = false;  ///< and not seen to be over
};

/// Entries are few. Never destroyed: a thread may still be receiving at exit.
struct ContextKernels {
  CallersMutex mutex;
  std::vector<std::shared_ptr<ContextKernel>> kernels;

  std::shared_ptr<ContextKernel> of(const cuda::ContextRef& context) {
    const auto is_of_it = [&](const auto& kernel) { return kernel->copy.context() == context; };
    std::erase_if(kernels, [&](const auto& kernel) {
      return !is_of_it(kernel) && !kernel->copy.has_order() && !kernel->copy.context()->is_alive();
    });
    const auto known = std::find_if(kernels.begin(), kernels.end(), is_of_it);
    return known != kernels.end() ? *known : kernels.emplace_back(std::make_shared<ContextKernel>(context));
  }
};

ContextKernels& all_kernels() {
  static auto* const instance = new ContextKernels;
  return *instance;
}

bool is_strided(const CopySource& source, const BufferView& destination) noexcept {
  return source.loops.depth != 0 || !destination.layout.is_contiguous();
}

Status start_without_resident_kernel(const CopySource& source, const BufferView& destination,
                                     const cuda::ContextRef& context, std::unique_ptr<Pull>& pull) {
  if (is_strided(source, destination)) return start_by_kernel(source, destination, context, pull);
  auto copy = std::make_unique<CopyPull>(source, destination, context);
  Status started = copy->start();
  if (started.ok()) pull = std::move(copy);
  return started;
}

/// Judges whether the last launch, which is over, was worth while.
void judge(ContextKernel& kernel) noexcept {
  kernel.is_launched = false;
  if (kernel.copy.orders_of_launch() >= least_orders) {
    kernel.needed = least_quick_copies;
  } else {
    kernel.needed = std::min(kernel.needed * 2, most_quick_copies);
    kernel.quick_copies = 0;
  }
}

class ResidentPull final : public Pull {
 public:
  ResidentPull(std::shared_ptr<ContextKernel> kernel, CopySource source, BufferView destination)
      : kernel_(std::move(kernel)), source_(std::move(source)), destination_(std::move(destination)) {}
  ~ResidentPull() override {
    for (bool finished = false; is_ordered_ && advance_order(finished).ok() && is_ordered_;)
      std::this_thread::yield();
  }
  ResidentPull(const ResidentPull&) = delete;
  ResidentPull& operator=(const ResidentPull&) = delete;

  /// Called under the registry's mutex; the kernel is ready.
  void order() noexcept {
    const auto bytes = static_cast<std::uint32_t>(source_.bytes);
    if (is_strided(source_, destination_)) {
      kernel_->copy.order(item_of(source_, destination_));
    } else if (lives_on_device(destination_.buffer.kind)) {
      kernel_->copy.order(destination_.first_byte(), source_.pointer, bytes);
    } else {
      kernel_->copy.order_download(destination_.first_byte(), source_.pointer, bytes);
    }
    is_ordered_ = true;
  }

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    finished = false;
    if (is_ordered_) {
      if (Status state = advance_order(finished); !state.ok() || finished || is_ordered_) return state;
    }
    return guarded([&] { return advance_copy(finished); });
  }

 private:
  [[nodiscard]] Status advance_order(bool& finished) noexcept {
    auto outcome = ResidentCopy::Outcome::pending;
    const std::lock_guard lock(all_kernels().mutex);
    Status state = kernel_->copy.query(outcome);
    if (state.ok() && outcome == ResidentCopy::Outcome::pending) return {};
    is_ordered_ = false;
    finished = outcome == ResidentCopy::Outcome::copied;
    return state;
  }

  /// Copies otherwise, as the kernel had left.
  [[nodiscard]] Status advance_copy(bool& finished) {
    if (copy_ == nullptr) {
      Status started = start_without_resident_kernel(source_, destination_, kernel_->copy.context(), copy_);
      if (started.code() == Code::declined) return {};  // too many launches are under way: retry
      if (!started.ok()) return started;
    }
    return copy_->advance(finished);
  }

  std::shared_ptr<ContextKernel> kernel_;
  CopySource source_;
  BufferView destination_;
  std::unique_ptr<Pull> copy_;
  bool is_ordered_ = false;
};

class ResidentCollective final : public OrderedCollective {
 public:
  explicit ResidentCollective(std::shared_ptr<ContextKernel> kernel) noexcept : kernel_(std::move(kernel)) {}
  ~ResidentCollective() override {
    for (auto outcome = Outcome::pending; is_ordered_ && query(outcome).ok() && is_ordered_;)
      std::this_thread::yield();
  }
  ResidentCollective(const ResidentCollective&) = delete;
  ResidentCollective& operator=(const ResidentCollective&) = delete;

  /// Called under the registry's mutex; the kernel is ready.
  void order(const OneShotOrder& collective) noexcept {
    kernel_->copy.order(collective);
    is_ordered_ = true;
  }

  [[nodiscard]] Status query(Outcome& outcome) noexcept override {
    auto ended = ResidentCopy::Outcome::pending;
    const std::lock_guard lock(all_kernels().mutex);
    Status state = kernel_->copy.query(ended);
    outcome = Outcome::pending;
    if (state.ok() && ended == ResidentCopy::Outcome::pending) return {};
    is_ordered_ = false;
    if (ended == ResidentCopy::Outcome::missed) {
      outcome = Outcome::missed;
    } else {
      outcome = kernel_->copy.was_incomplete() ? Outcome::incomplete : Outcome::complete;
    }
    return state;
  }

 private:
  std::shared_ptr<ContextKernel> kernel_;
  bool is_ordered_ = false;
};

bool is_lingering() noexcept {
  return linger.load(std::memory_order_relaxed) != 0;
}

/// Copies between host memory and a view on a device by what `order` orders, under the registry's mutex: the
/// copy is so small that no other thread needs the registry before it ends.
template <class Order>
bool copy_with_host(const BufferView& view, const cuda::ContextRef& context, Order order) noexcept {
  if (!is_lingering() || view.layout.bytes() > kernels::bounce_bytes || !view.layout.is_contiguous() ||
      view.buffer.kind == BufferKind::managed || !is_idle(view))
    return false;
  auto outcome = ResidentCopy::Outcome::missed;
  static_cast<void>(guarded([&]() -> Status {
    const std::lock_guard lock(all_kernels().mutex);
    ResidentCopy& copy = all_kernels().of(context)->copy;
    if (!copy.is_ready_for_host(view.first_byte(), view.layout.bytes())) return {};
    order(copy, static_cast<std::uint32_t>(view.layout.bytes()));
    Status state;
    do {
      state = copy.query(outcome);
    } while (state.ok() && outcome == ResidentCopy::Outcome::pending);
    if (!state.ok()) outcome = ResidentCopy::Outcome::missed;
    return state;
  }));
  return outcome == ResidentCopy::Outcome::copied;
}

}  // namespace

void set_linger(std::uint64_t linger_ns) noexcept {
  linger.store(linger_ns, std::memory_order_relaxed);
}

bool suits_resident_kernel(const CopySource& source, const BufferView& destination) noexcept {
  if (!is_lingering() || source.side != Side::device || source.context != nullptr || source.is_managed ||
      destination.buffer.kind == BufferKind::managed) {
    return false;
  }
  if (is_strided(source, destination)) {
    return source.bytes <= kernels::largest_shared_strided_order &&
           lives_on_device(destination.buffer.kind) &&
           (destination.layout.is_contiguous() || destination.layout.loops()) &&
           ResidentCopy::takes(item_of(source, destination));
  }
  return ResidentCopy::takes(destination.first_byte(), source.pointer, source.bytes) &&
         (lives_on_device(destination.buffer.kind) || source.bytes <= kernels::bounce_bytes);
}

bool suits_sharing(const CopySource& source, const BufferView& destination) noexcept {
  if (!lives_on_device(destination.buffer.kind)) return false;
  if (is_strided(source, destination)) return ResidentCopy::is_shared(item_of(source, destination));
  return ResidentCopy::is_shared(destination.first_byte(), source.pointer, source.bytes);
}

std::unique_ptr<Pull> start_on_resident_kernel(const CopySource& source, const BufferView& destination,
                                               const cuda::ContextRef& context) {
  const std::lock_guard lock(all_kernels().mutex);
  const std::shared_ptr<ContextKernel> kernel = all_kernels().of(context);
  const bool is_ready =
      is_strided(source, destination)
          ? kernel->copy.is_ready_for(item_of(source, destination))
          : kernel->copy.is_ready_for(destination.first_byte(), source.pointer, source.bytes);
  if (!is_ready) return nullptr;
  auto pull = std::make_unique<ResidentPull>(kernel, source, destination);
  pull->order();
  return pull;
}

std::unique_ptr<OrderedCollective> order_one_shot(const OneShotOrder& order,
                                                  const cuda::ContextRef& context) {
  if (!is_lingering() || largest_of(order.parts) > largest_one_shot_order) return nullptr;
  const std::lock_guard lock(all_kernels().mutex);
  const std::shared_ptr<ContextKernel> kernel = all_kernels().of(context);
  if (!kernel->copy.is_ready_for(order)) return nullptr;
  auto collective = std::make_unique<ResidentCollective>(kernel);
  collective->order(order);
  return collective;
}

bool download_by_resident_kernel(void* to, const BufferView& source,
                                 const cuda::ContextRef& context) noexcept {
  return copy_with_host(source, context, [&](ResidentCopy& copy, std::uint32_t bytes) {
    copy.order_download(to, source.first_byte(), bytes);
  });
}

bool upload_by_resident_kernel(const BufferView& destination, const void* from,
                               const cuda::ContextRef& context) noexcept {
  return copy_with_host(destination, context, [&](ResidentCopy& copy, std::uint32_t bytes) {
    copy.order_upload(destination.first_byte(), from, bytes);
  });
}

Status update_by_resident_kernel(const UpdateOrder& order, const cuda::ContextRef& context,
                                 bool& is_done) noexcept {
  is_done = false;
  if (!is_lingering()) return {};
  Status updated = guarded([&]() -> Status {
    auto outcome = ResidentCopy::Outcome::missed;
    const std::lock_guard lock(all_kernels().mutex);
    ResidentCopy& kernel = all_kernels().of(context)->copy;
    if (!kernel.is_ready_for(order)) return {};
    kernel.order(order);
    Status state;
    do {
      state = kernel.query(outcome);
    } while (state.ok() && outcome == ResidentCopy::Outcome::pending);
    is_done = outcome == ResidentCopy::Outcome::copied;
    return state;
  });
  if (updated.ok() && !is_done) note_small_copy(context, order.target);
  return updated;
}

Status start_on_resident_kernel_or_otherwise(const CopySource& source, const BufferView& destination,
                                             const cuda::ContextRef& context, std::unique_ptr<Pull>& pull) {
  pull = start_on_resident_kernel(source, destination, context);
  if (pull != nullptr) return {};
  Status started = start_without_resident_kernel(source, destination, context, pull);
  const bool is_to_device = lives_on_device(destination.buffer.kind);
  const void* known = is_to_device ? destination.buffer.pointer : source.pointer;
  note_small_copy(context, known, suits_sharing(source, destination));
  return started;
}

void note_small_copy(const cuda::ContextRef& context, const void* known, bool is_shared) noexcept {
  const std::uint64_t linger_ns = linger.load(std::memory_order_relaxed);
  if (linger_ns == 0) return;
  static_cast<void>(guarded([&]() -> Status {
    const std::lock_guard lock(all_kernels().mutex);
    ContextKernel& kernel = *all_kernels().of(context);
    const std::uint64_t now_ns = steady_now_ns();
    const bool is_quick = now_ns - std::exchange(kernel.last_copy_ns, now_ns) <= linger_ns;
    kernel.quick_copies = is_quick ? std::min(kernel.quick_copies + 1, most_quick_copies) : 0;
    kernel.has_shared = is_shared || (is_quick && kernel.has_shared);
    if (kernel.is_launched && kernel.copy.is_over()) judge(kernel);
    if (kernel.is_launched || kernel.copy.has_order() || kernel.quick_copies < kernel.needed) return {};
    if (is_on_shared_gpu(*context)) return {};
    const kernels::ResidentLimits stay{linger_ns, std::min(linger_ns, outside_ns), most_lingers * linger_ns};
    const auto size = std::exchange(kernel.has_shared, false) ? ResidentCopy::Size::several_blocks
                                                              : ResidentCopy::Size::one_block;
    kernel.is_launched = kernel.copy.launch(known, stay, size).ok();
    return {};
  }));
}

void end_resident_kernels() noexcept {
  const std::lock_guard lock(all_kernels().mutex);
  for (const auto& kernel : all_kernels().kernels) {
    kernel->copy.dismiss();
    const std::uint64_t begin_ns = steady_now_ns();
    while (!kernel->copy.is_over() && steady_now_ns() - begin_ns < timeout_ns) std::this_thread::yield();
  }
  std::erase_if(all_kernels().kernels, [](const auto& kernel) { return !kernel->copy.has_order(); });
}

}  // namespace penstock::transports
