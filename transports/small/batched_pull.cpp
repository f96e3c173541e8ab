#include "transports/small/batched_pull.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "transports/host/callers_mutex.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"
#include "transports/host/recycled.hpp"
#include "transports/small/batched_copy.hpp"
#include "transports/small/kernel_pull.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::transports {
namespace {

/// An open batch is launched when it has stopped growing, all its pulls were stepped and nothing of its route
/// is in flight. If it holds this many bytes, it is launched beside one other launch, as the GPU would
/// otherwise wait for it. A launch keeps the caller for 4 to 5 µs, in which three more small messages can be
/// received.
constexpr std::uint64_t worth_a_second_launch_bytes = 512u << 10;
/// A batch of this many items or bytes is launched too, so that the GPU works while the caller collects more.
/// A batch that has waited this long is launched, too, as the pulls in flight may not be stepped for long.
/// (Two H200, windows of 64 messages: with 16 items instead of 32, messages of 1 MiB took 254 µs instead of
/// 282, but those of 8 KiB 133 instead of 122, as each launch takes 3.7.)
constexpr std::size_t enough_items = CopyKernels::most_items;
constexpr std::uint64_t enough_bytes_between_devices = 8u << 20;
constexpr std::uint64_t longest_wait_ns = 20'000;
/// The same to and from host memory: this much takes the GPU 45 µs, in which it can hardly do anything else.
constexpr std::uint64_t enough_bytes_with_host = 2u << 20;

/// The pulls that share a batch. Copies to and from host memory are an order of magnitude slower than those
/// between devices, so the latter do not wait for them.
struct Route {
  cuda::ContextRef context;
  bool is_with_host = false;
  friend bool operator==(const Route&, const Route&) = default;

  [[nodiscard]] std::uint64_t enough_bytes() const noexcept {
    return is_with_host ? enough_bytes_with_host : enough_bytes_between_devices;
  }
};

bool is_with_host(const CopySource& source, const BufferView& destination) noexcept {
  return source.side == Side::host || !lives_on_device(destination.buffer.kind);
}

/// The small pulls of one route.
struct Traffic {
  Route route;
  unsigned in_flight = 0;             ///< lone copies and batches that were launched and not seen done
  std::shared_ptr<class Batch> open;  ///< the batch that collects

  /// Launches the open batch if it is due.
  void look_after_open();
  void launch_open();
  void count_out();
};

/// All batches of the process. Entries are few. Never destroyed: a thread may still be receiving at exit.
struct PullTraffic {
  CallersMutex mutex;
  std::vector<Traffic> traffic;

  Traffic& of(const Route& route) {
    const auto same = [&](const Traffic& each) { return each.route == route; };
    std::erase_if(traffic,
                  [&](const Traffic& each) { return each.in_flight == 0 && !each.open && !same(each); });
    const auto known = std::find_if(traffic.begin(), traffic.end(), same);
    return known != traffic.end() ? *known : traffic.emplace_back(Traffic{route, 0, nullptr});
  }
};

PullTraffic& pull_traffic() {
  static auto* const instance = new PullTraffic;
  return *instance;
}

/// Copies that are launched together. The registry's mutex guards all members except where noted.
class Batch {
 public:
  explicit Batch(Route route) : route_(std::move(route)) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  void add(const CopyItem& item) noexcept {
    items_[count_++] = item;
    ++in_use_;
    bytes_ += item.bytes;
  }
  /// True if no pull waits for the batch: all were left out.
  [[nodiscard]] bool is_empty() const noexcept { return in_use_ == 0; }

  /// Returns whether it is time to launch the batch, which is not launched yet.
  [[nodiscard]] bool is_due(unsigned in_flight) const noexcept {
    const bool is_awaited =
        (in_flight == 0 && !grows_) || (in_flight <= 1 && bytes_ >= worth_a_second_launch_bytes);
    return is_awaited || has_enough() || steady_now_ns() - begun_ns_ > longest_wait_ns;
  }
  [[nodiscard]] bool has_enough() const noexcept {
    return count_ == enough_items || bytes_ >= route_.enough_bytes();
  }
  void launch() noexcept {
    is_launched_ = true;
    failure_ = launch_copies();
  }

  /// Sets `done` once all has been copied; launches the batch when it is due.
  [[nodiscard]] Status step(bool& done) {
    done = was_seen_done_.load(std::memory_order_acquire);
    if (done) return {};  // the usual case for all but one of its pulls, without the lock
    const std::lock_guard lock(pull_traffic().mutex);
    // looks once for all of its pulls, which are stepped in turns: each look reads the clock
    if (++asked_ < in_use_) return failure_;
    asked_ = 0;
    grows_ = std::exchange(count_then_, count_) != count_;
    Traffic& traffic = pull_traffic().of(route_);
    if (!is_launched_) traffic.look_after_open();  // only the open batch is not launched
    if (!is_launched_) return {};
    look_for_end(traffic);
    done = is_done_;
    if (done && failure_.ok()) was_seen_done_.store(true, std::memory_order_release);
    return failure_;
  }

  /// Returns once the GPU no longer touches the memory of a pull that is being destroyed, or never will.
  void abandon(std::size_t index) noexcept {
    for (bool done = false; !done;) {
      const std::lock_guard lock(pull_traffic().mutex);
      if (!is_launched_) return leave_out(index);
      look_for_end(pull_traffic().of(route_));
      done = is_done_ || !failure_.ok();
    }
  }

 private:
  [[nodiscard]] Status launch_copies() noexcept {
    const cuda::ContextScope scope(*route_.context);
    if (!scope.status().ok()) return scope.status();
    CUstream stream = nullptr;
    if (Status made = route_.context->next_pull_stream(stream); !made.ok()) return made;
    if (copies_.launch(route_.context, stream, std::span(items_.data(), count_)).ok()) return {};
    return launch_one_by_one(stream);
  }

  /// Uses the copy engine, if the kernel cannot be launched.
  [[nodiscard]] Status launch_one_by_one(CUstream stream) noexcept {
    if (Status taken = cuda::Context::take_event(route_.context, copied_); !taken.ok()) return taken;
    Status copies;
    for (const CopyItem& item : std::span(items_.data(), count_)) {
      if (copies.ok()) copies = copy_by_engine(stream, item);
    }
    // also behind copies that failed half way
    Status recorded = copied_.record(stream);
    if (copies.ok()) return recorded;
    static_cast<void>(copied_.wait());
    return copies;
  }

  /// Drops a pull whose memory is gone before the launch.
  void leave_out(std::size_t index) noexcept {
    items_[index].bytes = 0;
    --in_use_;
  }

  void look_for_end(Traffic& traffic) {
    if (failure_.ok() && !is_done_) failure_ = look();
    if ((is_done_ || !failure_.ok()) && !std::exchange(is_counted_out_, true)) traffic.count_out();
  }
  [[nodiscard]] Status look() noexcept { return copied_ ? copied_.query(is_done_) : copies_.query(is_done_); }

  const Route route_;
  const std::uint64_t begun_ns_ = steady_now_ns();
  std::array<CopyItem, enough_items> items_;
  std::size_t count_ = 0;
  std::size_t in_use_ = 0;
  std::size_t asked_ = 0;       ///< steps since the last look
  std::size_t count_then_ = 0;  ///< at the last look
  bool grows_ = true;           ///< between the last two looks
  std::uint64_t bytes_ = 0;
  BatchedCopy copies_;
  cuda::Event copied_;  ///< used instead if the kernel cannot be launched
  Status failure_;
  bool is_launched_ = false;
  bool is_done_ = false;
  bool is_counted_out_ = false;
  std::atomic<bool> was_seen_done_{false};  ///< read without the mutex
};

void Traffic::look_after_open() {
  if (open != nullptr && (open->is_empty() || open->is_due(in_flight))) launch_open();
}

void Traffic::launch_open() {
  const std::shared_ptr<Batch> batch = std::exchange(open, nullptr);
  if (batch == nullptr || batch->is_empty()) return;
  batch->launch();
  ++in_flight;
}

/// Checks the open batch at once, as the GPU has less to do now and the next pull may be stepped late.
void Traffic::count_out() {
  --in_flight;
  look_after_open();
}

class BatchedPull final : public Pull, public Recycled<BatchedPull> {
 public:
  BatchedPull(std::shared_ptr<Batch> batch, std::size_t index, std::shared_ptr<const void> keeper) noexcept
      : batch_(std::move(batch)), index_(index), keeper_(std::move(keeper)) {}
  ~BatchedPull() override {
    if (!finished_) batch_->abandon(index_);
  }
  BatchedPull(const BatchedPull&) = delete;
  BatchedPull& operator=(const BatchedPull&) = delete;

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    Status stepped = guarded([&] { return batch_->step(finished_); });
    finished = finished_;
    return stepped;
  }

 private:
  std::shared_ptr<Batch> batch_;
  std::size_t index_;
  std::shared_ptr<const void> keeper_;
  bool finished_ = false;
};

/// A copy made alone, counted while it is in flight.
class CountedPull final : public Pull {
 public:
  CountedPull(Route route, std::unique_ptr<Pull> copy) : route_(std::move(route)), copy_(std::move(copy)) {
    const std::lock_guard lock(pull_traffic().mutex);
    ++pull_traffic().of(route_).in_flight;
  }
  ~CountedPull() override { count_out(); }
  CountedPull(const CountedPull&) = delete;
  CountedPull& operator=(const CountedPull&) = delete;

  [[nodiscard]] Status advance(bool& finished) noexcept override {
    Status stepped = copy_->advance(finished);
    if (finished || !stepped.ok()) count_out();
    return stepped;
  }

 private:
  void count_out() noexcept {
    if (std::exchange(is_counted_out_, true)) return;
    const std::lock_guard lock(pull_traffic().mutex);
    pull_traffic().of(route_).count_out();
  }

  Route route_;
  std::unique_ptr<Pull> copy_;
  bool is_counted_out_ = false;
};

}  // namespace

bool fits_a_batch(const CopySource& source, const BufferView& destination) noexcept {
  const std::uint64_t most =
      is_with_host(source, destination) ? tuning().host_batched_to : tuning().batched_to;
  return source.bytes > 0 && source.bytes <= most;
}

std::unique_ptr<Pull> join_batch(const CopySource& source, const BufferView& destination,
                                 const cuda::ContextRef& context) {
  const Route route{context, is_with_host(source, destination)};
  const std::lock_guard lock(pull_traffic().mutex);
  Traffic& traffic = pull_traffic().of(route);
  if (traffic.in_flight == 0 && traffic.open == nullptr) return nullptr;
  if (traffic.open == nullptr) traffic.open = std::make_shared<Batch>(route);
  Batch& batch = *traffic.open;
  auto pull = std::make_unique<BatchedPull>(traffic.open, batch.size(), source.keeper);
  batch.add(item_of(source, destination));
  if (batch.has_enough()) traffic.look_after_open();
  return pull;
}

std::unique_ptr<Pull> count_in_flight(const CopySource& source, const BufferView& destination,
                                      const cuda::ContextRef& context, std::unique_ptr<Pull> alone) {
  return std::make_unique<CountedPull>(Route{context, is_with_host(source, destination)}, std::move(alone));
}

void launch_collected() noexcept {
  const std::lock_guard lock(pull_traffic().mutex);
  for (Traffic& traffic : pull_traffic().traffic) traffic.launch_open();
}

}  // namespace penstock::transports
