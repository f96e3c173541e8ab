#include "transports/device_memory/relay_memory.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>
#include <vector>

#include "transports/host/watch.hpp"

namespace penstock::transports::cuda {

/// One context's allocation. Owns the memory, unless its context has died with it. Thread: any.
class RelayArena {
 public:
  explicit RelayArena(ContextRef context) noexcept : context_(std::move(context)) {}
  ~RelayArena() {
    const Driver* driver = cuda::driver();
    if (driver == nullptr || buffer_.pointer == nullptr) return;
    const ContextScope scope(*context_);
    if (scope.status().ok()) driver->cuMemFree(reinterpret_cast<CUdeviceptr>(buffer_.pointer));
  }
  RelayArena(const RelayArena&) = delete;
  RelayArena& operator=(const RelayArena&) = delete;

  [[nodiscard]] const Context& context() const noexcept { return *context_; }

  /// Lends `units` (a power of two) that follow each other; `first` is the first of them.
  [[nodiscard]] Status lend(std::size_t units, Buffer& first) {
    const std::lock_guard lock(mutex_);
    if (Status made = allocate(); !made.ok()) return made;
    for (std::size_t unit = 0; unit + units <= unit_count; unit += units) {
      if ((on_loan_ & mask(unit, units)) != 0) continue;
      on_loan_ |= mask(unit, units);
      first = buffer_;
      first.pointer = static_cast<char*>(buffer_.pointer) + unit * RelaySlice::unit_bytes;
      return {};
    }
    return {Code::declined, "memory for relaying, all in use"};
  }

  void take_back(const void* first, std::size_t units) noexcept {
    const auto offset = static_cast<const char*>(first) - static_cast<const char*>(buffer_.pointer);
    const std::lock_guard lock(mutex_);
    on_loan_ &= ~mask(static_cast<std::size_t>(offset) / RelaySlice::unit_bytes, units);
  }

 private:
  static constexpr std::size_t unit_count = RelaySlice::arena_bytes / RelaySlice::unit_bytes;
  static_assert(unit_count == 64, "a bit for each unit");

  [[nodiscard]] static std::uint64_t mask(std::size_t unit, std::size_t units) noexcept {
    return (units == unit_count ? ~0ull : (1ull << units) - 1) << unit;
  }

  /// Allocates the memory, but not again at once after a refusal: a driver that is out of memory takes its
  /// time to find out.
  [[nodiscard]] Status allocate() {
    if (buffer_.pointer != nullptr) return {};
    if (!refusal_.ok() && !watch_.is_due()) return refusal_;
    const Driver* driver = cuda::driver();
    if (driver == nullptr) return no_driver();
    CUdeviceptr address = 0;
    refusal_ = check(driver->cuMemAlloc(&address, RelaySlice::arena_bytes), "cuMemAlloc");
    watch_.progress();
    if (refusal_.ok()) buffer_ = inspect(reinterpret_cast<const void*>(address));
    return refusal_;
  }

  const ContextRef context_;
  std::mutex mutex_;
  Buffer buffer_;
  std::uint64_t on_loan_ = 0;  ///< a bit for each unit
  Status refusal_;
  Watch watch_;
};

namespace {

struct Arenas {
  std::mutex mutex;
  std::vector<std::shared_ptr<RelayArena>> all;
};

Arenas& arenas() {
  static auto* const instance = new Arenas;
  return *instance;
}

std::shared_ptr<RelayArena> arena_of(const ContextRef& context) {
  const std::lock_guard lock(arenas().mutex);
  auto& all = arenas().all;
  std::erase_if(all, [](const auto& arena) { return !arena->context().is_alive(); });
  const auto same = [&](const auto& arena) { return &arena->context() == context.get(); };
  const auto known = std::find_if(all.begin(), all.end(), same);
  if (known != all.end()) return *known;
  all.push_back(std::make_shared<RelayArena>(context));
  return all.back();
}

}  // namespace

Status RelaySlice::take(const ContextRef& context, std::size_t bytes, RelaySlice& slice) {
  const std::size_t units = std::bit_ceil(std::max<std::size_t>(1, (bytes + unit_bytes - 1) / unit_bytes));
  if (units * unit_bytes > arena_bytes) return {Code::bad_argument, "a slice larger than its arena"};
  RelaySlice taken;
  std::shared_ptr<RelayArena> arena = arena_of(context);
  if (Status lent = arena->lend(units, taken.buffer_); !lent.ok()) return lent;
  taken.bytes_ = units * unit_bytes;
  taken.arena_ = std::move(arena);
  slice = std::move(taken);
  return {};
}

void RelaySlice::drop_all() noexcept {
  std::vector<std::shared_ptr<RelayArena>> dropped;
  const std::lock_guard lock(arenas().mutex);
  dropped.swap(arenas().all);
}

RelaySlice& RelaySlice::operator=(RelaySlice&& other) noexcept {
  std::swap(arena_, other.arena_);
  std::swap(buffer_, other.buffer_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

RelaySlice::~RelaySlice() {
  if (arena_ != nullptr) arena_->take_back(buffer_.pointer, bytes_ / unit_bytes);
}

}  // namespace penstock::transports::cuda
