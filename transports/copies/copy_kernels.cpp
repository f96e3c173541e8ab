#include "transports/copies/copy_kernels.hpp"

#include <algorithm>
#include <bit>

#include "transports/cuda/driver.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/kernels/copy_batch.hpp"
#include "transports/kernels/strided_copy.hpp"

namespace penstock::transports {
namespace {

static_assert(CopyKernels::most_items == kernels::largest_capacity);

constexpr std::uint32_t warp_threads = 32;

std::uint32_t whole_warps(std::uint32_t threads) noexcept {
  return std::clamp((threads + warp_threads - 1) / warp_threads * warp_threads, warp_threads,
                    kernels::most_threads);
}

template <class Parameters>
Status launch_kernel(cuda::Kernel kernel, Parameters& arguments, std::uint32_t blocks, std::uint32_t threads,
                     CUstream stream) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  void* parameters[] = {&arguments};
  return cuda::check(driver->cuLaunchKernel(cuda::Kernels::of_process()[kernel], blocks, 1, 1, threads, 1, 1,
                                            0, stream, parameters, nullptr),
                     "cuLaunchKernel");
}

template <class Batch>
void begin(Batch& batch, const LaunchFlag& flag) noexcept {
  batch.flag = flag.device_word;
  batch.slot = flag.slot;
  batch.count = 0;
}

/// Leaves `launched` unchanged if there was nothing to copy.
template <std::uint32_t capacity>
Status launch_contiguous(cuda::Kernel kernel, CUstream stream, std::span<const CopyItem> items,
                         const LaunchFlag& flag, bool& launched) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the kernel reads `count` items only
  kernels::CopyBatch<capacity> batch;
  begin(batch, flag);
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
  if (blocks == 0) return {};
  // enough for two loads of 16 bytes each in the longest piece
  const std::uint32_t threads = whole_warps(std::min(longest_bytes, kernels::piece_bytes) / 32);
  Status state = launch_kernel(kernel, batch, blocks, threads, stream);
  launched = launched || state.ok();
  return state;
}

template <std::uint32_t capacity>
Status launch_strided(cuda::Kernel kernel, CUstream stream, std::span<const CopyItem> items,
                      const LaunchFlag& flag, bool& launched) noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): the kernel reads `count` items only
  kernels::StridedBatch<capacity> batch;
  begin(batch, flag);
  std::uint32_t most_units = 0;
  for (const CopyItem& item : items) {
    if (item.bytes == 0) continue;
    const std::uint32_t shift = unit_shift_of(item);
    batch.items[batch.count++] = {item.to,
                                  item.from,
                                  item.bytes,
                                  shift,
                                  item.to_side.begin,
                                  item.from_side.begin,
                                  item.to_side.loops,
                                  item.from_side.loops};
    most_units = std::max(most_units, (item.bytes >> shift) / kernels::units_in_flight[shift]);
  }
  if (batch.count == 0) return {};
  const std::uint32_t threads = whole_warps(most_units);
  std::uint32_t blocks = 0;
  for (std::uint32_t index = 0; index < batch.count; ++index) {
    const kernels::StridedItem& item = batch.items[index];
    const std::uint32_t units_of_block = threads * kernels::units_in_flight[item.unit_shift];
    batch.first_block[index] = blocks;
    blocks += ((item.bytes >> item.unit_shift) - 1) / units_of_block + 1;
  }
  Status state = launch_kernel(kernel, batch, blocks, threads, stream);
  launched = launched || state.ok();
  return state;
}

Status launch_all_contiguous(CUstream stream, std::span<const CopyItem> items, const LaunchFlag& flag,
                             bool& launched) noexcept {
#define ROW(capacity)           \
  if (items.size() <= capacity) \
    return launch_contiguous<capacity>(cuda::Kernel::copy_##capacity, stream, items, flag, launched);
  PENSTOCK_COPY_CAPACITIES(ROW)
#undef ROW
  return {Code::bad_argument, "too many items for one batch"};
}

Status launch_some_strided(CUstream stream, std::span<const CopyItem> items, const LaunchFlag& flag,
                           bool& launched) noexcept {
#define ROW(capacity)           \
  if (items.size() <= capacity) \
    return launch_strided<capacity>(cuda::Kernel::strided_copy_##capacity, stream, items, flag, launched);
  PENSTOCK_STRIDED_CAPACITIES(ROW)
#undef ROW
  return {Code::bad_argument, "too many items for one batch"};
}

/// Uses one launch or two; the second runs after the first, so its end is that of both.
Status launch_all_strided(CUstream stream, std::span<const CopyItem> items, const LaunchFlag& flag,
                          bool& launched) noexcept {
  const std::size_t most = kernels::largest_strided_capacity;
  const auto is_empty = [](const CopyItem& item) { return item.bytes == 0; };
  if (items.size() > most && !std::ranges::all_of(items.subspan(most), is_empty)) {
    if (Status first = launch_some_strided(stream, items.first(most), {}, launched); !first.ok())
      return first;
    items = items.subspan(most);
  }
  return launch_some_strided(stream, items.first(std::min(items.size(), most)), flag, launched);
}

}  // namespace

std::uint32_t unit_shift_of(const CopyItem& item) noexcept {
  std::uint64_t all = item.bytes | reinterpret_cast<std::uintptr_t>(item.to) |
                      reinterpret_cast<std::uintptr_t>(item.from) | 1u << kernels::largest_unit_shift;
  for (const CopySide* side : {&item.to_side, &item.from_side}) {
    all |= side->begin;
    if (side->is_contiguous()) continue;
    all |= side->loops.row_bytes;
    for (std::uint32_t loop = 0; loop < side->loops.depth; ++loop)
      all |= static_cast<std::uint64_t>(side->loops.strides[loop]);
  }
  return static_cast<std::uint32_t>(std::countr_zero(all));
}

Status CopyKernels::available() noexcept {
  return cuda::Kernels::of_process().status();
}

Status CopyKernels::launch(CUstream stream, std::span<const CopyItem> items, const LaunchFlag& flag,
                           bool& launched) noexcept {
  launched = false;
  if (Status usable = available(); !usable.ok()) return usable;
  if (items.size() > most_items) return {Code::bad_argument, "too many items for one batch"};
  const bool all_contiguous = std::ranges::all_of(items, &CopyItem::is_contiguous);
  return all_contiguous ? launch_all_contiguous(stream, items, flag, launched)
                        : launch_all_strided(stream, items, flag, launched);
}

Status launch_runs_copy(CUstream stream, const LayoutTable& table, const RunsCopyItem& item) noexcept {
  if (Status usable = CopyKernels::available(); !usable.ok() || item.bytes == 0) return usable;
  const std::uint64_t all = table.alignment() | item.begin | item.bytes |
                            reinterpret_cast<std::uintptr_t>(item.laid_out) |
                            reinterpret_cast<std::uintptr_t>(item.packed) | 1u << kernels::largest_unit_shift;
  const auto shift = static_cast<std::uint32_t>(std::countr_zero(all));
  kernels::RunsCopy copy{item.laid_out, item.packed, table.runs(), table.size(),
                         item.begin,    item.bytes,  shift};
  const std::uint32_t units = item.bytes >> shift;
  const std::uint32_t threads = whole_warps(units / kernels::units_in_flight[shift]);
  const std::uint32_t blocks = (units - 1) / (threads * kernels::units_in_flight[shift]) + 1;
  return launch_kernel(item.gathers ? cuda::Kernel::gather_runs : cuda::Kernel::scatter_runs, copy, blocks,
                       threads, stream);
}

namespace {

/// A byte of a message, and how many bytes from it on lie in one piece.
struct Stretch {
  std::ptrdiff_t offset;
  std::uint32_t bytes;
};
Stretch stretch_at(const CopySide& side, std::uint32_t position, std::uint32_t most) noexcept {
  position += side.begin;
  if (side.is_contiguous()) return {position, most};
  const StridedLoops& loops = side.loops;
  const std::uint32_t in_row = position % loops.row_bytes;
  Stretch stretch{in_row, std::min(most, loops.row_bytes - in_row)};
  std::uint32_t row = position / loops.row_bytes;
  for (std::uint32_t loop = 0; loop < loops.depth; ++loop) {
    const bool is_outermost = loop + 1 == loops.depth;
    const std::uint32_t index = is_outermost ? row : row % loops.counts[loop];
    stretch.offset += index * loops.strides[loop];
    row /= loops.counts[loop];
  }
  return stretch;
}

}  // namespace

Status copy_by_engine(CUstream stream, const CopyItem& item) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  for (std::uint32_t done = 0; done < item.bytes;) {
    const Stretch from = stretch_at(item.from_side, done, item.bytes - done);
    const Stretch to = stretch_at(item.to_side, done, from.bytes);
    Status copied =
        cuda::check(driver->cuMemcpyAsync(
                        reinterpret_cast<CUdeviceptr>(static_cast<char*>(item.to) + to.offset),
                        reinterpret_cast<CUdeviceptr>(static_cast<const char*>(item.from) + from.offset),
                        to.bytes, stream),
                    "cuMemcpyAsync");
    if (!copied.ok()) return copied;
    done += to.bytes;
  }
  return {};
}

}  // namespace penstock::transports
