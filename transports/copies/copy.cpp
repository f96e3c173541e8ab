#include "transports/copies/copy.hpp"

#include "transports/cuda/driver.hpp"
#include "transports/host/host_copy.hpp"

namespace penstock::transports {
namespace {

/// What cuMemcpy2D takes as a pitch (CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU so far).
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

Status copy_rows(const Rows<char*>& to, const Rows<const char*>& from, std::size_t bytes, std::size_t rows,
                 CUstream stream) noexcept {
  const cuda::Driver* driver = cuda::driver();
  if (driver == nullptr) return cuda::no_driver();
  const auto width = static_cast<std::ptrdiff_t>(bytes);
  if (rows == 1 || (to.pitch == width && from.pitch == width)) {
    return cuda::check(driver->cuMemcpyAsync(to.row(0), from.row(0), bytes * rows, stream), "cuMemcpyAsync");
  }
  const auto fits = [&](std::ptrdiff_t pitch) { return pitch >= width && pitch <= max_pitch; };
  if (fits(to.pitch) && fits(from.pitch)) {
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
    const CUresult copied = driver->cuMemcpy2DAsync(&copy, stream);
    // refused for memory that the context's device cannot map (another device's pool), which rows can be
    // copied from all the same
    if (copied != CUDA_ERROR_INVALID_VALUE) return cuda::check(copied, "cuMemcpy2DAsync");
  }
  // also rows that overlap, run backwards or lie very far apart
  for (std::size_t row = 0; row < rows; ++row) {
    const CUresult copied = driver->cuMemcpyAsync(to.row(row), from.row(row), bytes, stream);
    if (copied != CUDA_SUCCESS) return cuda::check(copied, "cuMemcpyAsync");
  }
  return {};
}

Side side_of(const Place& place) noexcept {
  return lives_on_device(place.buffer.kind) ? Side::device : Side::host;
}

char* address_in(const Place& place, const Block& piece) noexcept {
  return static_cast<char*>(place.buffer.pointer) + piece.offset;
}

/// Calls `copy(piece, done)` for each piece of the next `bytes`; `done` bytes came before it. Stops at an
/// error.
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

}  // namespace

Status copy_in(const Place& place, LayoutCursor& cursor, const void* source, Side source_side,
               std::size_t bytes, CUstream stream) noexcept {
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    const auto width = static_cast<std::ptrdiff_t>(piece.bytes);
    return copy_rows({address_in(place, piece), piece.stride, side_of(place)},
                     {static_cast<const char*>(source) + done, width, source_side}, piece.bytes, piece.count,
                     stream);
  });
}

Status copy_out(void* destination, Side destination_side, const Place& place, LayoutCursor& cursor,
                std::size_t bytes, CUstream stream) noexcept {
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    const auto width = static_cast<std::ptrdiff_t>(piece.bytes);
    return copy_rows({static_cast<char*>(destination) + done, width, destination_side},
                     {address_in(place, piece), piece.stride, side_of(place)}, piece.bytes, piece.count,
                     stream);
  });
}

Status copy_in_host(const Place& place, LayoutCursor& cursor, const void* source,
                    std::size_t bytes) noexcept {
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    copy_host_rows(address_in(place, piece), piece.stride, static_cast<const char*>(source) + done,
                   static_cast<std::ptrdiff_t>(piece.bytes), piece.bytes, piece.count);
    return Status{};
  });
}

Status copy_out_host(void* destination, const Place& place, LayoutCursor& cursor,
                     std::size_t bytes) noexcept {
  return for_each_piece(cursor, bytes, [&](const Block& piece, std::size_t done) {
    copy_host_rows(static_cast<char*>(destination) + done, static_cast<std::ptrdiff_t>(piece.bytes),
                   address_in(place, piece), piece.stride, piece.bytes, piece.count);
    return Status{};
  });
}

}  // namespace penstock::transports
