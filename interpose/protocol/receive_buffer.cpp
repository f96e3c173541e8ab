#include "interpose/protocol/receive_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "interpose/datatypes/datatype_layout.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/host/in_call.hpp"
#include "transports/machine.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {
namespace {

/// Computed with integers, as MPI_BOTTOM is null and the offset then an address.
std::byte* address_at(const void* buffer, std::ptrdiff_t offset) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(buffer) +
                                      static_cast<std::uintptr_t>(offset));
}

}  // namespace

bool ReceiveBuffer::inspect() {
  if (on_device_) {
    view_ = view_of(buffer_, count_, datatype_);
    view_.handed_over_ns = transports::time_of_call_ns();
    capacity_bytes_ = view_.layout.bytes();
    if (view_.buffer.kind == transports::BufferKind::unknown) return false;
    transports::prepare_kernels(view_.buffer);
    return true;
  }
  std::ptrdiff_t offset = 0;
  if (is_contiguous(datatype_, count_, &offset, &capacity_bytes_)) {
    in_one_piece_ = true;
    first_byte_ = address_at(buffer_, offset);
  } else {
    view_ = view_of(buffer_, count_, datatype_);
    capacity_bytes_ = view_.layout.bytes();
  }
  return true;
}

transports::BufferView ReceiveBuffer::view() const {
  if (!in_one_piece_) return view_;
  return {transports::inspect(first_byte_), transports::Layout::contiguous(capacity_bytes_)};
}

const transports::BufferView& ReceiveBuffer::first_of_device(std::size_t bytes) {
  view_.layout = view_.layout.prefix(bytes);
  return view_;
}

bool ReceiveBuffer::is_in_parts() const {
  if (on_device_) return view_.is_scattered();
  return buffer_ == MPI_BOTTOM && !transports::is_of_one_host_kind(view());
}

bool ReceiveBuffer::may_be_written_now() {
  if (!is_idle_) is_idle_ = transports::is_idle(view_);
  return is_idle_;
}

bool ReceiveBuffer::may_be_written() {
  if (!is_idle_) is_idle_ = earlier_.is_done(view_);
  return is_idle_;
}

ReceiveBuffer::Range ReceiveBuffer::host_range() const noexcept {
  if (in_one_piece_) return {first_byte_, capacity_bytes_};
  const auto* const base = static_cast<const std::byte*>(view_.buffer.pointer);
  std::ptrdiff_t begin = PTRDIFF_MAX;
  std::ptrdiff_t end = PTRDIFF_MIN;
  for (const transports::Block& block : view_.layout.blocks()) {
    const std::ptrdiff_t last = block.offset + static_cast<std::ptrdiff_t>(block.count - 1) * block.stride;
    begin = std::min({begin, block.offset, last});
    end = std::max({end, block.offset + static_cast<std::ptrdiff_t>(block.bytes),
                    last + static_cast<std::ptrdiff_t>(block.bytes)});
  }
  if (begin >= end) return {base, 0};
  return {base + begin, static_cast<std::size_t>(end - begin)};
}

bool ReceiveBuffer::stage() noexcept {
  if (is_staged()) return true;
  if (capacity_bytes_ <= envelope_bytes) {
    staged_ = small_.data();
    return true;
  }
  staging_ = StagingBuffer(capacity_bytes_);
  staged_ = static_cast<std::byte*>(staging_.data());
  return is_staged();
}

transports::BufferView ReceiveBuffer::staging_view() noexcept {
  staging_.was_written(SIZE_MAX);
  return {transports::inspect(staged_), transports::Layout::contiguous(capacity_bytes_)};
}

ReceiveBuffer::Target ReceiveBuffer::target_of_library() const noexcept {
  if (!is_staged()) return {buffer_, count_, datatype_};
  return {staged_, static_cast<MPI_Count>(std::max(capacity_bytes_, envelope_bytes)), MPI_BYTE};
}

/// Calls `function(a part of the user's buffer, its offset in an envelope, its bytes)` for each part of the
/// first envelope_bytes.
template <typename Function>
void ReceiveBuffer::for_first_bytes(Function function) const {
  if (in_one_piece_) return function(first_byte_, 0, envelope_bytes);
  std::size_t used = 0;
  for (const transports::Block& block : view_.layout.blocks()) {
    for (std::size_t i = 0; i < block.count && used < envelope_bytes; ++i) {
      const std::size_t bytes = std::min(block.bytes, envelope_bytes - used);
      function(static_cast<std::byte*>(view_.buffer.pointer) + block.offset +
                   static_cast<std::ptrdiff_t>(i) * block.stride,
               used, bytes);
      used += bytes;
    }
  }
}

void ReceiveBuffer::keep_first_bytes() noexcept {
  // the MPI library refuses a null buffer
  if (capacity_bytes_ < envelope_bytes || (in_one_piece_ && first_byte_ == nullptr)) return;
  for_first_bytes([&](const std::byte* from, std::size_t at, std::size_t bytes) {
    std::memcpy(small_.data() + at, from, bytes);
  });
}

void ReceiveBuffer::put_first_bytes_back() const noexcept {
  for_first_bytes(
      [&](std::byte* to, std::size_t at, std::size_t bytes) { std::memcpy(to, small_.data() + at, bytes); });
}

const void* ReceiveBuffer::first_bytes(std::byte* scratch) const noexcept {
  if (is_staged()) return staged_;
  if (in_one_piece_) return first_byte_;
  for_first_bytes([&](const std::byte* from, std::size_t at, std::size_t bytes) {
    std::memcpy(scratch + at, from, bytes);
  });
  return scratch;
}

void ReceiveBuffer::write_small(const void* bytes, std::size_t count) noexcept {
  if (count != 0) std::memcpy(first_byte_, bytes, count);
}

bool copy_first_bytes(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                      std::array<std::byte, envelope_bytes>& bytes) {
  std::ptrdiff_t offset = 0;
  std::size_t capacity_bytes = 0;
  if (is_refused(count, datatype)) return true;
  if (!is_contiguous(datatype, count, &offset, &capacity_bytes)) return false;
  if (capacity_bytes < envelope_bytes) return false;
  const std::byte* const first = address_at(buffer, offset);
  if (first != nullptr) std::memcpy(bytes.data(), first, envelope_bytes);
  return true;
}

}  // namespace penstock::interpose
