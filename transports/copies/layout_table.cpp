#include "transports/copies/layout_table.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "transports/host/callers_mutex.hpp"

namespace penstock::transports {
namespace {

/// The tables of one layout.
using Tables = std::vector<std::shared_ptr<const LayoutTable>>;

/// Guards the companions of all layouts.
CallersMutex& lock() {
  static auto* const mutex = new CallersMutex;  // never destroyed: a thread may still be receiving at exit
  return *mutex;
}

}  // namespace

Status LayoutTable::of(const Layout& layout, const cuda::ContextRef& context,
                       std::shared_ptr<const LayoutTable>& table) {
  std::shared_ptr<void>* const companion = layout.companion();
  if (companion == nullptr || layout.bytes() > UINT32_MAX)
    return {Code::declined, "a layout that no table can tell"};
  const std::lock_guard guard(lock());
  if (*companion == nullptr) *companion = std::make_shared<Tables>();
  Tables& tables = *static_cast<Tables*>(companion->get());
  std::erase_if(tables, [](const auto& known) { return !known->context()->is_alive(); });
  const auto known = std::ranges::find(tables, context, [](const auto& each) { return each->context(); });
  if (known != tables.end()) {
    table = *known;
    return {};
  }
  auto made = std::make_shared<LayoutTable>(context);
  if (Status uploaded = made->upload(layout); !uploaded.ok()) return uploaded;
  table = tables.emplace_back(std::move(made));
  return {};
}

Status LayoutTable::upload(const Layout& layout) {
  const cuda::Driver* const driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  if (driver->cuMemAllocAsync == nullptr || driver->cuMemFreeAsync == nullptr)
    return {Code::declined, "memory in stream order needs a driver of CUDA 11.2"};
  std::vector<kernels::Run> runs;
  runs.reserve(layout.blocks().size());
  std::uint64_t start = 0;
  for (const Block& block : layout.blocks()) {
    runs.push_back({block.offset, block.stride, static_cast<std::uint32_t>(start),
                    static_cast<std::uint32_t>(block.bytes)});
    alignment_ |=
        static_cast<std::uint64_t>(block.offset) | static_cast<std::uint64_t>(block.stride) | block.bytes;
    start += block.bytes * block.count;
    const std::ptrdiff_t last_row = static_cast<std::ptrdiff_t>(block.count - 1) * block.stride;
    begin_ = std::min(begin_, block.offset);
    end_ = std::max(end_, block.offset + last_row + static_cast<std::ptrdiff_t>(block.bytes));
  }
  CUstream stream = nullptr;
  if (Status made = context_->stream(cuda::StreamUse::layout_tables, stream); !made.ok()) return made;
  const std::size_t bytes = runs.size() * sizeof(kernels::Run);
  if (Status taken = cuda::check(driver->cuMemAllocAsync(&memory_, bytes, stream), "cuMemAllocAsync");
      !taken.ok())
    return taken;
  size_ = static_cast<std::uint32_t>(runs.size());
  if (Status copied = cuda::check(
          driver->cuMemcpyAsync(memory_, reinterpret_cast<CUdeviceptr>(runs.data()), bytes, stream),
          "cuMemcpyAsync");
      !copied.ok())
    return copied;
  return cuda::check(driver->cuStreamSynchronize(stream), "cuStreamSynchronize");
}

LayoutTable::~LayoutTable() {
  const cuda::Driver* const driver = cuda::driver();
  if (driver == nullptr || memory_ == 0) return;
  const cuda::ContextScope scope(*context_);
  CUstream stream = nullptr;
  if (!scope.status().ok() || !context_->stream(cuda::StreamUse::layout_tables, stream).ok()) return;
  driver->cuMemFreeAsync(memory_, stream);
}

}  // namespace penstock::transports
