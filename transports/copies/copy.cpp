#include "transports/copies/copy.hpp"

#include "transports/copies/copy_kernels.hpp"
#include "transports/cuda/context.hpp"
#include "transports/cuda/driver.hpp"
#include "transports/cuda/kernels.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/host_copy.hpp"

namespace penstock::transports {
namespace {

/// The largest pitch that cuMemcpy2D takes (CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU so far).
constexpr std::ptrdiff_t max_pitch = 0x7fffffff;

/// One side of a piece: rows `pitch` apart.
template <class Pointer>
struct Rows {
  Pointer first;
  std::ptrdiff_t pitch;
  Side side;
  [[nodiscard]] CUdeviceptr row(std::size_t index) const noexcept {
    return reinterpret_cast<CUdeviceptr>(first + static_cast<std::ptrdiff_t>(index) * pitch);
  }
};

CUresult copy_2d(const Rows<char*>& to, const Rows<const char*>& from, std::size_t bytes, std::size_t rows,
                 CUstream stream) noexcept {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = from.side == Side::host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED;
  copy.srcHost = from.first;
  copy.srcDevice = from.row(0);
  copy.srcPitch = static_cast<std::size_t>(from.pitch);
  copy.dstMemoryType = to.side == Side::host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED;
  copy.dstHost = to.first;
  copy.dstDevice = to.row(0);
  copy.dstPitch = static_cast<std::size_t>(to.pitch);
  copy.WidthInBytes = bytes;
  copy.Height = rows;
  return cuda::driver()->cuMemcpy2DAsync(&copy, stream);
}

/// Below this size the driver has the compute engine write bytes from the host, unless they are rows
/// (measured on an H200, driver 580).
constexpr std::size_t least_by_copy_engine = 32u << 10;

/// Copies contiguous bytes as two rows, so that a copy engine takes them; an odd last byte goes in two more
/// rows, with the byte before it. On a GPU that other processes use, the compute engine's turn takes 142 µs
/// to arrive, and 325 while they run kernels; this way takes 8 µs (an inline write on an unshared GPU takes
/// 6).
CUresult copy_in_halves(char* to, const char* from, std::size_t bytes, CUstream stream) noexcept {
  const auto two_rows = [&](std::size_t offset, std::size_t width) {
    const auto pitch = static_cast<std::ptrdiff_t>(width);
    return copy_2d({to + offset, pitch, Side::device}, {from + offset, pitch, Side::host}, width, 2, stream);
  };
  const CUresult copied = two_rows(0, bytes / 2);
  return copied != CUDA_SUCCESS || bytes % 2 == 0 ? copied : two_rows(bytes - 2, 1);
}

Status copy_contiguous(const Rows<char*>& to, const Rows<const char*>& from, std::size_t bytes,
                       bool takes_turns, CUstream stream) noexcept {
  if (takes_turns && from.side == Side::host && to.side == Side::device && bytes > 1 &&
      bytes < least_by_copy_engine && copy_in_halves(to.first, from.first, bytes, stream) == CUDA_SUCCESS) {
    return {};
  }
  return cuda::check(cuda::driver()->cuMemcpyAsync(to.row(0), from.row(0), bytes, stream), "cuMemcpyAsync");
}

/// `takes_turns`: other processes use the GPU, too.
Status copy_rows(const Rows<char*>& to, const Rows<const char*>& from, std::size_t bytes, std::size_t rows,
                 bool takes_turns, CUstream stream) noexcept {
  if (cuda::driver() == nullptr) return cuda::no_driver();
  const auto width = static_cast<std::ptrdiff_t>(bytes);
  if (rows == 1 || (to.pitch == width && from.pitch == width))
    return copy_contiguous(to, from, bytes * rows, takes_turns, stream);
  const auto fits = [&](std::ptrdiff_t pitch) { return pitch >= width && pitch <= max_pitch; };
  if (fits(to.pitch) && fits(from.pitch)) {
    const CUresult copied = copy_2d(to, from, bytes, rows, stream);
    // refused for memory that the context's device cannot map (another device's pool); rows can be copied
    // from it all the same
    if (copied != CUDA_ERROR_INVALID_VALUE) return cuda::check(copied, "cuMemcpy2DAsync");
  }
  // also for rows that overlap, run backwards or lie very far apart
  for (std::size_t row = 0; row < rows; ++row) {
    const auto offset = static_cast<std::ptrdiff_t>(row);
    Status copied =
        copy_contiguous({to.first + offset * to.pitch, width, to.side},
                        {from.first + offset * from.pitch, width, from.side}, bytes, takes_turns, stream);
    if (!copied.ok()) return copied;
  }
  return {};
}

Side side_of(const BufferView& view) noexcept {
  return lives_on_device(view.buffer.kind) ? Side::device : Side::host;
}

char* address_in(const BufferView& view, const Block& piece) noexcept {
  return static_cast<char*>(view.buffer.pointer) + piece.offset;
}

/// Calls `copy(piece, done)` for each piece of the next `bytes`; `done` is the number of bytes before the
/// piece. Stops at an error.
template <class Copy>
Status for_each_piece(LayoutCursor& cursor, std::size_t bytes, Copy copy) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    const Block piece = cursor.next(bytes - done);
    if (piece.bytes == 0) return {Code::bad_argument, "a layout shorter than its message"};
    if (Status copied = copy(piece, done); !copied.ok()) return copied;
    done += piece.bytes * piece.count;
  }
  return {};
}

/// Returns whether kernels of the view's context reach the contiguous side.
bool is_reached_by_kernels(const void* contiguous, Side side, std::size_t bytes) noexcept {
  if (side == Side::device) return true;
  const auto is_pinned = [](const void* address) {
    const Buffer buffer = inspect(address);
    return buffer.kind == BufferKind::pinned && buffer.holds(0, 1);
  };
  return bytes > 0 && is_pinned(contiguous) && is_pinned(static_cast<const char*>(contiguous) + bytes - 1);
}

Status launch_strided(const BufferView& view, const StridedLoops& loops, std::uint32_t begin,
                      void* contiguous, std::uint32_t bytes, bool gathers, CUstream stream) noexcept {
  if (!view.buffer.holds(view.layout.first_offset(), loops.extent()))
    return {Code::declined, "a layout that reaches past its allocation"};
  CopyItem item{gathers ? contiguous : view.first_byte(), gathers ? view.first_byte() : contiguous, bytes};
  (gathers ? item.from_side : item.to_side) = {loops, begin};
  bool launched = false;
  return CopyKernels::launch(stream, {&item, 1}, {}, launched);
}

/// With fewer blocks, one call for each takes less time than making a table, which some layouts use only
/// once.
constexpr std::size_t least_table_blocks = 12;

Status launch_irregular(const BufferView& view, const cuda::ContextRef& context, std::uint32_t begin,
                        void* contiguous, std::uint32_t bytes, bool gathers, CUstream stream) {
  if (view.layout.blocks().size() < least_table_blocks) return {Code::declined, "few blocks"};
  std::shared_ptr<const LayoutTable> table;
  if (Status made = LayoutTable::of(view.layout, context, table); !made.ok()) return made;
  if (!view.buffer.holds(table->begin(), static_cast<std::uint64_t>(table->end() - table->begin())))
    return {Code::declined, "a layout that reaches past its allocation"};
  return launch_runs_copy(stream, *table, {view.buffer.pointer, contiguous, begin, bytes, gathers});
}

/// Copy engines take rows from or to the host without waiting for the turn of a kernel (see
/// copy_in_halves()): 3 to 11 ns for each row, and a call for each block.
constexpr std::size_t most_blocks_by_copy_engine = 16;
constexpr std::size_t most_rows_by_copy_engine = 16384;

bool is_in_few_rows(const Layout& layout) noexcept {
  if (layout.blocks().size() > most_blocks_by_copy_engine) return false;
  std::size_t rows = 0;
  for (const Block& block : layout.blocks()) {
    if (block.count > 1 && block.stride < static_cast<std::ptrdiff_t>(block.bytes)) return false;
    rows += block.count;
  }
  return rows <= most_rows_by_copy_engine;
}

/// Queues the copy of the next `bytes` as one launch of a kernel, if a kernel suits it. False: nothing was
/// queued, and the copy engine must do it.
bool queue_kernel(const BufferView& view, LayoutCursor& cursor, void* contiguous, Side side,
                  std::size_t bytes, bool gathers, CUstream stream) noexcept {
  if (!is_in_short_pieces(view.layout) || !belongs_to_context(view.buffer.kind) ||
      view.layout.bytes() > UINT32_MAX || cursor.position() + bytes > view.layout.bytes() ||
      !is_reached_by_kernels(contiguous, side, bytes) ||
      (side == Side::host && is_in_few_rows(view.layout) && is_on_shared_gpu(view.buffer))) {
    return false;
  }
  const auto begin = static_cast<std::uint32_t>(cursor.position());
  const auto size = static_cast<std::uint32_t>(bytes);
  const Status launched = guarded([&]() -> Status {
    const cuda::ContextRef& context = cuda::Context::of(view.buffer);
    if (context == nullptr) return cuda::no_driver();
    if (Status usable = cuda::Kernels::ready_in(*context); !usable.ok()) return usable;
    const auto loops = view.layout.loops();
    return loops ? launch_strided(view, *loops, begin, contiguous, size, gathers, stream)
                 : launch_irregular(view, context, begin, contiguous, size, gathers, stream);
  });
  if (launched.ok()) cursor.skip(bytes);
  return launched.ok();
}

}  // namespace

bool is_in_short_pieces(const Layout& layout) noexcept {
  if (layout.is_contiguous()) return false;
  return layout.blocks().front().bytes < long_piece_bytes ||
         layout.bytes() / layout.blocks().size() < long_piece_bytes;
}

Status copy_in(const BufferView& view, LayoutCursor& cursor, const void* source, Side source_side,
               std::size_t bytes, CUstream stream) noexcept {
  if (queue_kernel(view, cursor, const_cast<void*>(source), source_side, bytes, false, stream)) return {};
  const bool takes_turns = source_side == Side::host && is_on_shared_gpu(view.buffer);
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    const auto width = static_cast<std::ptrdiff_t>(piece.bytes);
    return copy_rows({address_in(view, piece), piece.stride, side_of(view)},
                     {static_cast<const char*>(source) + done, width, source_side}, piece.bytes, piece.count,
                     takes_turns, stream);
  });
}

Status copy_out(void* destination, Side destination_side, const BufferView& view, LayoutCursor& cursor,
                std::size_t bytes, CUstream stream) noexcept {
  if (queue_kernel(view, cursor, destination, destination_side, bytes, true, stream)) return {};
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    const auto width = static_cast<std::ptrdiff_t>(piece.bytes);
    return copy_rows({static_cast<char*>(destination) + done, width, destination_side},
                     {address_in(view, piece), piece.stride, side_of(view)}, piece.bytes, piece.count, false,
                     stream);
  });
}

Status copy_in_host(const BufferView& view, LayoutCursor& cursor, const void* source,
                    std::size_t bytes) noexcept {
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    copy_host_rows(address_in(view, piece), piece.stride, static_cast<const char*>(source) + done,
                   static_cast<std::ptrdiff_t>(piece.bytes), piece.bytes, piece.count);
    return Status{};
  });
}

Status copy_out_host(void* destination, const BufferView& view, LayoutCursor& cursor,
                     std::size_t bytes) noexcept {
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    copy_host_rows(static_cast<char*>(destination) + done, static_cast<std::ptrdiff_t>(piece.bytes),
                   address_in(view, piece), piece.stride, piece.bytes, piece.count);
    return Status{};
  });
}

}  // namespace penstock::transports
