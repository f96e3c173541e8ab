// An irregular layout as a table in a device's memory, for the kernels that gather and scatter by it. The
// table is made at the layout's first copy in a context and kept with the layout's blocks: for a datatype, as
// long as any message or the datatype holds them. Knows neither messages nor MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transports/cuda/context.hpp"
#include "transports/host/status.hpp"
#include "transports/kernels/strided_copy.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Owns the memory. Thread: any.
class LayoutTable {
 public:
  /// Returns the table of a layout of several blocks in a context, which is current. Errors: `declined` if
  /// the layout is larger than tables can describe, or the driver has no memory in stream order; the
  /// driver's. Cost: 30 ns; the first time an allocation and a copy, for which it waits.
  [[nodiscard]] static Status of(const Layout& layout, const cuda::ContextRef& context,
                                 std::shared_ptr<const LayoutTable>& table);

  explicit LayoutTable(cuda::ContextRef context) noexcept : context_(std::move(context)) {}
  ~LayoutTable();
  LayoutTable(const LayoutTable&) = delete;
  LayoutTable& operator=(const LayoutTable&) = delete;

  [[nodiscard]] const cuda::ContextRef& context() const noexcept { return context_; }
  /// In device memory.
  [[nodiscard]] const kernels::Run* runs() const noexcept {
    return reinterpret_cast<const kernels::Run*>(memory_);
  }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// All numbers of the table, or-ed: a power of two that divides this divides each of them.
  [[nodiscard]] std::uint64_t alignment() const noexcept { return alignment_; }
  /// The range in which the layout's bytes lie, as offsets.
  [[nodiscard]] std::ptrdiff_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::ptrdiff_t end() const noexcept { return end_; }

 private:
  [[nodiscard]] Status upload(const Layout& layout);

  const cuda::ContextRef context_;
  CUdeviceptr memory_ = 0;
  std::uint32_t size_ = 0;
  std::uint64_t alignment_ = 0;
  std::ptrdiff_t begin_ = PTRDIFF_MAX;
  std::ptrdiff_t end_ = PTRDIFF_MIN;
};

}  // namespace penstock::transports
