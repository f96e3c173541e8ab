#include "transports/small/batched_copy.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "transports/cuda/kernels.hpp"
#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports {
namespace {

static_assert(BatchedCopy::most_items == kernels::largest_capacity);

/// Enough for two loads of 16 bytes each in the longest piece.
std::uint32_t threads_for(std::uint32_t longest_bytes) noexcept {
  constexpr std::uint32_t warp = 32;
  const std::uint32_t piece = std::min(longest_bytes, kernels::piece_bytes);
  return std::clamp((piece / 32 + warp - 1) / warp * warp, warp, kernels::most_threads);
}

template <std::uint32_t capacity>
Status launch_kernel(cuda::Kernel kernel, kernels::CopyBatch<capacity>& batch, std::uint32_t blocks,
                     std::uint32_t threads, CUstream stream) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  void* parameters[] = {&batch};
  return cuda::check(driver->cuLaunchKernel(cuda::Kernels::of_process()[kernel], blocks, 1, 1, threads, 1, 1,
                                            0, stream, parameters, nullptr),
                     "cuLaunchKernel");
}

/// False in `launched` if there was nothing to copy.
template <std::uint32_t capacity>
Status launch_batch(cuda::Kernel kernel, const cuda::CompletionFlag& flag, CUstream stream,
                    std::span<const CopyItem> items, bool& launched) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the kernel reads `count` items only
  kernels::CopyBatch<capacity> batch;
  batch.flag = flag.device_word();
  batch.slot = flag.slot();
  batch.count = 0;
  std::uint32_t blocks = 0;
  std::uint32_t longest_bytes = 0;
  for (const CopyItem& item : items) {
    if (item.bytes == 0) continue;
    batch.first_block[batch.count] = blocks;
    batch.items[batch.count] = {item.to, item.from, item.bytes};
    ++batch.count;
    blocks += (item.bytes - 1) / kernels::piece_bytes + 1;
    longest_bytes = std::max(longest_bytes, item.bytes);
  }
  launched = false;
  if (blocks == 0) return {};
  Status state = launch_kernel(kernel, batch, blocks, threads_for(longest_bytes), stream);
  launched = state.ok();
  return state;
}

/// A launch that copies nothing and raises no flag.
template <std::uint32_t capacity>
Status launch_empty(cuda::Kernel kernel, CUstream stream) noexcept {
  kernels::CopyBatch<capacity> batch{};
  batch.count = 1;
  return launch_kernel(kernel, batch, 1, 32, stream);
}

/// By the smallest batch that the items fit in.
Status launch_smallest(const cuda::CompletionFlag& flag, CUstream stream, std::span<const CopyItem> items,
                       bool& launched) noexcept {
#define ROW(capacity)           \
  if (items.size() <= capacity) \
    return launch_batch<capacity>(cuda::Kernel::copy_##capacity, flag, stream, items, launched);
  PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
  return {Code::bad_argument, "too many items for one batch"};
}

}  // namespace

Status BatchedCopy::available() noexcept {
  return cuda::Kernels::of_process().status();
}

Status BatchedCopy::prepare(const cuda::ContextRef& context, CUstream stream) noexcept {
  if (Status usable = available(); !usable.ok()) return usable;
  const cuda::FlagPage* page = nullptr;
  if (Status pinned = context->flags(page); !pinned.ok()) return pinned;
#define ROW(capacity) \
  if (Status ready = launch_empty<capacity>(cuda::Kernel::copy_##capacity, stream); !ready.ok()) return ready;
  PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
  return {};
}

BatchedCopy::BatchedCopy(BatchedCopy&& other) noexcept {
  *this = std::move(other);
}

BatchedCopy& BatchedCopy::operator=(BatchedCopy&& other) noexcept {
  std::swap(flag_, other.flag_);
  std::swap(stream_, other.stream_);
  std::swap(failure_watch_, other.failure_watch_);
  std::swap(in_flight_, other.in_flight_);
  return *this;
}

BatchedCopy::~BatchedCopy() {
  if (in_flight_) static_cast<void>(wait());
}

Status BatchedCopy::launch(const cuda::ContextRef& context, CUstream stream,
                           std::span<const CopyItem> items) noexcept {
  if (!done()) return {Code::bad_argument, "a batch while the last is in flight"};
  in_flight_ = false;
  if (Status usable = available(); !usable.ok()) return usable;
  if (flag_.context() != context) {
    flag_ = {};
    if (Status taken = cuda::CompletionFlag::take(context, flag_); !taken.ok()) return taken;
  }
  flag_.lower();
  stream_ = stream;
  failure_watch_.progress();
  return launch_smallest(flag_, stream, items, in_flight_);
}

Status BatchedCopy::query(bool& done) noexcept {
  done = this->done();
  if (done || !failure_watch_.is_due()) return {};
  return look_for_failure(done);
}

Status BatchedCopy::look_for_failure(bool& done) noexcept {
  failure_watch_.progress();
  Status state;
  {
    const cuda::ContextScope scope(*flag_.context());
    const cuda::Driver* driver = cuda::driver();
    state = scope.status();
    if (state.ok() && driver != nullptr) {
      const CUresult result = driver->cuStreamQuery(stream_);
      if (result == CUDA_ERROR_NOT_READY) return {};
      state = cuda::check(result, "cuStreamQuery");
    }
  }
  done = true;
  if (flag_.is_raised()) return {};
  in_flight_ = false;
  if (flag_.context()->is_alive()) flag_.abandon();
  return state.ok() ? Status{Code::cuda_failed, "a copy kernel that did not raise its flag"} : state;
}

Status BatchedCopy::wait() noexcept {
  constexpr int spins = 2000;  // some tens of microseconds
  bool done = false;
  for (int polls = 0;; ++polls) {
    Status state = query(done);
    if (done || !state.ok()) return state;
    if (polls > spins) std::this_thread::yield();
  }
}

}  // namespace penstock::transports
