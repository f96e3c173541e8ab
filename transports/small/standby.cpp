#include "transports/small/standby.hpp"

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
#include "transports/small/standby_copy.hpp"
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
struct Post {
  explicit Post(cuda::ContextRef context) noexcept : copy(std::move(context)) {}

  StandbyCopy copy;
  std::uint64_t last_copy_ns = 0;
  std::uint32_t quick_copies = 0;  ///< in a row
  bool has_shared = false;         ///< several blocks would have shared one of them
  std::uint32_t needed = least_quick_copies;
  bool is_launched = false;  ///< and not seen to be over
};

/// Entries are few. Never destroyed: a thread may still be receiving at exit.
struct Posts {
  CallersMutex mutex;
  std::vector<std::shared_ptr<Post>> posts;

  std::shared_ptr<Post> of(const cuda::ContextRef& context) {
    const auto is_of_it = [&](const auto& post) { return post->copy.context() == context; };
    std::erase_if(posts, [&](const auto& post) {
      return !is_of_it(post) && !post->copy.has_order() && !post->copy.context()->is_alive();
    });
    const auto known = std::find_if(posts.begin(), posts.end(), is_of_it);
    return known != posts.end() ? *known : posts.emplace_back(std::make_shared<Post>(context));
  }
};

Posts& all_posts() {
  static auto* const instance = new Posts;
  return *instance;
}

bool is_strided(const CopySource& source, const Place& destination) noexcept {
  return source.loops.depth != 0 || !destination.layout.is_contiguous();
}

Status start_without_standby(const CopySource& source, const Place& destination,
                             const cuda::ContextRef& context, std::unique_ptr<Pull>& pull) {
  if (is_strided(source, destination)) return start_by_kernel(source, destination, context, pull);
  auto copy = std::make_unique<CopyPull>(source, destination, context);
  Status started = copy->start();
  if (started.ok()) pull = std::move(copy);
  return started;
}

/// Judges whether the last launch, which is over, was worth while.
void judge(Post& post) noexcept {
  post.is_launched = false;
  if (post.copy.orders_of_launch() >= least_orders) {
    post.needed = least_quick_copies;
  } else {
    post.needed = std::min(post.needed * 2, most_quick_copies);
    post.quick_copies = 0;
  }
}

class StandbyPull final : public Pull {
 public:
  StandbyPull(std::shared_ptr<Post> post, CopySource source, Place destination)
      : post_(std::move(post)), source_(std::move(source)), destination_(std::move(destination)) {}
  ~StandbyPull() override {
    for (bool finished = false; is_ordered_ && advance_order(finished).ok() && is_ordered_;)
      std::this_thread::yield();
  }
  StandbyPull(const StandbyPull&) = delete;
  StandbyPull& operator=(const StandbyPull&) = delete;

  /// Called under the registry's mutex; the kernel is ready.
  void order() noexcept {
    const auto bytes = static_cast<std::uint32_t>(source_.bytes);
    if (is_strided(source_, destination_)) {
      post_->copy.order(item_of(source_, destination_));
    } else if (lives_on_device(destination_.buffer.kind)) {
      post_->copy.order(destination_.first_byte(), source_.pointer, bytes);
    } else {
      post_->copy.order_download(destination_.first_byte(), source_.pointer, bytes);
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
    auto outcome = StandbyCopy::Outcome::pending;
    const std::lock_guard lock(all_posts().mutex);
    Status state = post_->copy.query(outcome);
    if (state.ok() && outcome == StandbyCopy::Outcome::pending) return {};
    is_ordered_ = false;
    finished = outcome == StandbyCopy::Outcome::copied;
    return state;
  }

  /// Copies otherwise, as the kernel had left.
  [[nodiscard]] Status advance_copy(bool& finished) {
    if (copy_ == nullptr) {
      Status started = start_without_standby(source_, destination_, post_->copy.context(), copy_);
      if (started.code() == Code::declined) return {};  // too many launches are under way: retry
      if (!started.ok()) return started;
    }
    return copy_->advance(finished);
  }

  std::shared_ptr<Post> post_;
  CopySource source_;
  Place destination_;
  std::unique_ptr<Pull> copy_;
  bool is_ordered_ = false;
};

class StandbyCollective final : public OrderedCollective {
 public:
  explicit StandbyCollective(std::shared_ptr<Post> post) noexcept : post_(std::move(post)) {}
  ~StandbyCollective() override {
    for (auto outcome = Outcome::pending; is_ordered_ && query(outcome).ok() && is_ordered_;)
      std::this_thread::yield();
  }
  StandbyCollective(const StandbyCollective&) = delete;
  StandbyCollective& operator=(const StandbyCollective&) = delete;

  /// Called under the registry's mutex; the kernel is ready.
  void order(const FusedOrder& collective) noexcept {
    post_->copy.order(collective);
    is_ordered_ = true;
  }

  [[nodiscard]] Status query(Outcome& outcome) noexcept override {
    auto ended = StandbyCopy::Outcome::pending;
    const std::lock_guard lock(all_posts().mutex);
    Status state = post_->copy.query(ended);
    outcome = Outcome::pending;
    if (state.ok() && ended == StandbyCopy::Outcome::pending) return {};
    is_ordered_ = false;
    if (ended == StandbyCopy::Outcome::missed) {
      outcome = Outcome::missed;
    } else {
      outcome = post_->copy.was_incomplete() ? Outcome::incomplete : Outcome::complete;
    }
    return state;
  }

 private:
  std::shared_ptr<Post> post_;
  bool is_ordered_ = false;
};

bool is_lingering() noexcept {
  return linger.load(std::memory_order_relaxed) != 0;
}

/// Copies between host memory and a place on a device by what `order` orders, under the registry's mutex: the
/// copy is so small that no other thread needs the registry before it ends.
template <class Order>
bool copy_with_host(const Place& place, const cuda::ContextRef& context, Order order) noexcept {
  if (!is_lingering() || place.layout.bytes() > kernels::bounce_bytes || !place.layout.is_contiguous() ||
      place.buffer.kind == BufferKind::managed || !is_idle(place))
    return false;
  auto outcome = StandbyCopy::Outcome::missed;
  static_cast<void>(guarded([&]() -> Status {
    const std::lock_guard lock(all_posts().mutex);
    StandbyCopy& copy = all_posts().of(context)->copy;
    if (!copy.is_ready_for_host(place.first_byte(), place.layout.bytes())) return {};
    order(copy, static_cast<std::uint32_t>(place.layout.bytes()));
    Status state;
    do {
      state = copy.query(outcome);
    } while (state.ok() && outcome == StandbyCopy::Outcome::pending);
    if (!state.ok()) outcome = StandbyCopy::Outcome::missed;
    return state;
  }));
  return outcome == StandbyCopy::Outcome::copied;
}

}  // namespace

void set_linger(std::uint64_t linger_ns) noexcept {
  linger.store(linger_ns, std::memory_order_relaxed);
}

bool suits_standby(const CopySource& source, const Place& destination) noexcept {
  if (!is_lingering() || source.side != Side::device || source.context != nullptr || source.is_managed ||
      destination.buffer.kind == BufferKind::managed) {
    return false;
  }
  if (is_strided(source, destination)) {
    return source.bytes <= kernels::largest_shared_strided_order &&
           lives_on_device(destination.buffer.kind) &&
           (destination.layout.is_contiguous() || destination.layout.loops()) &&
           StandbyCopy::takes(item_of(source, destination));
  }
  return StandbyCopy::takes(destination.first_byte(), source.pointer, source.bytes) &&
         (lives_on_device(destination.buffer.kind) || source.bytes <= kernels::bounce_bytes);
}

bool suits_sharing(const CopySource& source, const Place& destination) noexcept {
  if (!lives_on_device(destination.buffer.kind)) return false;
  if (is_strided(source, destination)) return StandbyCopy::is_shared(item_of(source, destination));
  return StandbyCopy::is_shared(destination.first_byte(), source.pointer, source.bytes);
}

std::unique_ptr<Pull> start_standing_by(const CopySource& source, const Place& destination,
                                        const cuda::ContextRef& context) {
  const std::lock_guard lock(all_posts().mutex);
  const std::shared_ptr<Post> post = all_posts().of(context);
  const bool is_ready = is_strided(source, destination)
                            ? post->copy.is_ready_for(item_of(source, destination))
                            : post->copy.is_ready_for(destination.first_byte(), source.pointer, source.bytes);
  if (!is_ready) return nullptr;
  auto pull = std::make_unique<StandbyPull>(post, source, destination);
  pull->order();
  return pull;
}

std::uint64_t largest_of(const FusedParts& parts) noexcept {
  return std::max(std::ranges::max(parts.sent), std::ranges::max(parts.received));
}

std::unique_ptr<OrderedCollective> order_fused(const FusedOrder& order, const cuda::ContextRef& context) {
  if (!is_lingering() || largest_of(order.parts) > largest_fused_order) return nullptr;
  const std::lock_guard lock(all_posts().mutex);
  const std::shared_ptr<Post> post = all_posts().of(context);
  if (!post->copy.is_ready_for(order)) return nullptr;
  auto collective = std::make_unique<StandbyCollective>(post);
  collective->order(order);
  return collective;
}

bool download_standing_by(void* to, const Place& source, const cuda::ContextRef& context) noexcept {
  return copy_with_host(source, context, [&](StandbyCopy& copy, std::uint32_t bytes) {
    copy.order_download(to, source.first_byte(), bytes);
  });
}

bool upload_standing_by(const Place& destination, const void* from,
                        const cuda::ContextRef& context) noexcept {
  return copy_with_host(destination, context, [&](StandbyCopy& copy, std::uint32_t bytes) {
    copy.order_upload(destination.first_byte(), from, bytes);
  });
}

Status start_alone(const CopySource& source, const Place& destination, const cuda::ContextRef& context,
                   std::unique_ptr<Pull>& pull) {
  const bool suits = suits_standby(source, destination);
  if (suits) pull = start_standing_by(source, destination, context);
  if (pull != nullptr) return {};
  Status started = start_without_standby(source, destination, context, pull);
  if (suits) {
    const bool is_to_device = lives_on_device(destination.buffer.kind);
    const void* known = is_to_device ? destination.buffer.pointer : source.pointer;
    note_small_copy(context, known, suits_sharing(source, destination));
  }
  return started;
}

void note_small_copy(const cuda::ContextRef& context, const void* known, bool is_shared) noexcept {
  const std::uint64_t linger_ns = linger.load(std::memory_order_relaxed);
  if (linger_ns == 0) return;
  static_cast<void>(guarded([&]() -> Status {
    const std::lock_guard lock(all_posts().mutex);
    Post& post = *all_posts().of(context);
    const std::uint64_t now_ns = steady_now_ns();
    const bool is_quick = now_ns - std::exchange(post.last_copy_ns, now_ns) <= linger_ns;
    post.quick_copies = is_quick ? std::min(post.quick_copies + 1, most_quick_copies) : 0;
    post.has_shared = is_shared || (is_quick && post.has_shared);
    if (post.is_launched && post.copy.is_over()) judge(post);
    if (post.is_launched || post.copy.has_order() || post.quick_copies < post.needed) return {};
    if (is_on_shared_gpu(*context)) return {};
    const kernels::StandbyStay stay{linger_ns, std::min(linger_ns, outside_ns), most_lingers * linger_ns};
    const auto size = std::exchange(post.has_shared, false) ? StandbyCopy::Size::several_blocks
                                                            : StandbyCopy::Size::one_block;
    post.is_launched = post.copy.launch(known, stay, size).ok();
    return {};
  }));
}

void end_standing_by() noexcept {
  const std::lock_guard lock(all_posts().mutex);
  for (const auto& post : all_posts().posts) {
    post->copy.dismiss();
    const std::uint64_t begin_ns = steady_now_ns();
    while (!post->copy.is_over() && steady_now_ns() - begin_ns < timeout_ns) std::this_thread::yield();
  }
  std::erase_if(all_posts().posts, [](const auto& post) { return !post->copy.has_order(); });
}

}  // namespace penstock::transports
