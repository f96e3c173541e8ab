#include "interpose/staging/staged_argument.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "interpose/calls/transfer_record.hpp"
#include "interpose/datatypes/datatype_layout.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {
namespace {

using transports::Block;
using transports::BufferKind;
using transports::BufferView;
using transports::Layout;

constexpr std::uintptr_t at(std::uintptr_t address, std::ptrdiff_t offset) noexcept {
  return address + static_cast<std::uintptr_t>(offset);
}

std::byte* pointer(std::uintptr_t address) noexcept {
  return reinterpret_cast<std::byte*>(address);
}

/// Calls `visit(piece, packed)` for each piece of a layout at `origin` with its place in a packed message.
template <typename Visit>
void for_each_piece(std::uintptr_t origin, const Layout& layout, std::byte* packed, Visit visit) {
  for (const Block& block : layout.blocks()) {
    for (std::size_t piece = 0; piece < block.count; ++piece) {
      visit(pointer(at(origin, block.offset + static_cast<std::ptrdiff_t>(piece) * block.stride)), packed,
            block.bytes);
      packed += block.bytes;
    }
  }
}

/// Returns the layout, seen from its first byte, and the buffer that this byte belongs to.
BufferView view_at(std::uintptr_t user, const Layout& layout) {
  const std::ptrdiff_t first = layout.first_offset();
  return {.buffer = transports::inspect(pointer(at(user, first))),
          .layout = layout.shifted(-first),
          .handed_over_ns = transports::time_of_call_ns()};
}

/// Calls `move(place, address of its pointer in the stand-in)` for each allocation in which a layout has
/// bytes. Only absolute addresses, relative to MPI_BOTTOM, can reach into several. Stops at the first
/// failure.
template <typename Move>
Status for_each_allocation(std::uintptr_t user, std::uintptr_t origin, const Layout& layout, Move move) {
  if (layout.bytes() == 0) return {};
  const auto move_one = [&](const Layout& within) {
    return move(view_at(user, within), at(origin, within.first_offset()));
  };
  if (user != reinterpret_cast<std::uintptr_t>(MPI_BOTTOM)) return move_one(layout);

  const BufferView whole = absolute_view(layout);
  if (!whole.is_scattered()) return move_one(layout);
  for (const transports::ViewPart& part : *whole.parts) {
    BufferView view = part.view;
    view.handed_over_ns = whole.handed_over_ns;
    const std::uintptr_t moved_by = reinterpret_cast<std::uintptr_t>(view.buffer.pointer) - user;
    if (Status moved = move(view, origin + moved_by); !moved.ok()) return moved;
  }
  return {};
}

/// Copies from device to host, each byte to the same offset from `origin`.
Status download(const BufferView& view, std::uintptr_t origin) {
  if (view.layout.is_contiguous()) return transports::download(pointer(origin), view);
  const HostMemory packed = HostMemory::take(view.layout.bytes());
  if (packed.data() == nullptr) return {Code::out_of_memory, "staging"};
  if (Status copied = transports::download(packed.data(), view); !copied.ok()) return copied;
  for_each_piece(
      origin, view.layout, packed.data(),
      [](std::byte* piece, const std::byte* from, std::size_t bytes) { std::memcpy(piece, from, bytes); });
  return {};
}

Status upload(const BufferView& view, std::uintptr_t origin) {
  if (view.layout.is_contiguous()) return transports::upload(view, pointer(origin));
  const HostMemory packed = HostMemory::take(view.layout.bytes());
  if (packed.data() == nullptr) return {Code::out_of_memory, "staging"};
  for_each_piece(
      origin, view.layout, packed.data(),
      [](const std::byte* piece, std::byte* to, std::size_t bytes) { std::memcpy(to, piece, bytes); });
  return transports::upload(view, packed.data());
}

}  // namespace

BufferView absolute_view(const Layout& absolute) {
  BufferView view = view_at(reinterpret_cast<std::uintptr_t>(MPI_BOTTOM), absolute);
  transports::find_parts(view);
  return view;
}

ByteRange ByteRange::of_bytes(std::ptrdiff_t bytes, std::ptrdiff_t offset) {
  ByteRange region;
  if (bytes <= 0) return region;
  region.layout_ = Layout::contiguous(static_cast<std::size_t>(bytes), offset);
  region.begin_ = offset;
  region.end_ = offset + bytes;
  return region;
}

void ByteRange::add(MPI_Count count, MPI_Datatype datatype, std::ptrdiff_t displacement) {
  if (count <= 0) return;
  const Layout element = layout_of(datatype, 1);
  if (element.bytes() == 0) return;
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  PMPI_Type_get_extent_x(datatype, &lower_bound, &extent);

  // adds each block of the element for all elements, as order does not matter here: that gives few blocks
  const std::ptrdiff_t to_the_last = (count - 1) * extent;
  for (const Block& block : element.blocks()) {
    const std::ptrdiff_t first = displacement + block.offset;
    if (block.count == 1) {
      layout_.append({.offset = first,
                      .bytes = block.bytes,
                      .count = static_cast<std::size_t>(count),
                      .stride = extent});
    } else {
      for (MPI_Count index = 0; index < count; ++index) {
        layout_.append({.offset = first + index * extent,
                        .bytes = block.bytes,
                        .count = block.count,
                        .stride = block.stride});
      }
    }
    const std::ptrdiff_t length = static_cast<std::ptrdiff_t>(block.count - 1) * block.stride +
                                  static_cast<std::ptrdiff_t>(block.bytes);
    widen(first + std::min<std::ptrdiff_t>(to_the_last, 0),
          first + length + std::max<std::ptrdiff_t>(to_the_last, 0));
  }
  const std::ptrdiff_t bound = displacement + lower_bound;
  const std::ptrdiff_t begin = std::min<std::ptrdiff_t>(bound, bound + extent);
  const std::ptrdiff_t end = std::max<std::ptrdiff_t>(bound, bound + extent);
  // bounds that are far from the bytes, as they may be for absolute addresses, contain no padding
  if (begin >= end_ || end <= begin_) return;
  widen(bound + std::min<std::ptrdiff_t>(to_the_last, 0),
        bound + extent + std::max<std::ptrdiff_t>(to_the_last, 0));
}

void ByteRange::widen(std::ptrdiff_t begin, std::ptrdiff_t end) noexcept {
  const bool is_first = begin_ == end_;
  begin_ = is_first ? begin : std::min(begin_, begin);
  end_ = is_first ? end : std::max(end_, end);
}

Status StagedArgument::open(const void* user, const ByteRange& read, const ByteRange& written) {
  // an empty region has begin = end = 0, which must not extend the span to the user's address
  const std::ptrdiff_t begin = read.empty()      ? written.begin()
                               : written.empty() ? read.begin()
                                                 : std::min(read.begin(), written.begin());
  const std::ptrdiff_t end = read.empty()      ? written.end()
                             : written.empty() ? read.end()
                                               : std::max(read.end(), written.end());
  // The stand-in has the alignment of the original, in case an operation relies on it.
  constexpr std::uintptr_t alignment = 256;
  user_ = reinterpret_cast<std::uintptr_t>(user);
  const std::uintptr_t misalignment = at(user_, begin) % alignment;
  memory_ = HostMemory::take(static_cast<std::size_t>(end - begin) + misalignment);
  if (memory_.data() == nullptr) return {Code::out_of_memory, "staging"};
  origin_ = at(reinterpret_cast<std::uintptr_t>(memory_.data()) + misalignment, -begin);
  read_ = read.layout();
  written_ = written.layout();
  return {};
}

Status StagedArgument::fetch(const Layout& some, const char* why) const {
  return for_each_allocation(user_, origin_, some, [why](const BufferView& view, std::uintptr_t origin) {
    return staged_copy(view.layout.bytes(), view.buffer.kind, BufferKind::pageable, why,
                       [&] { return download(view, origin); });
  });
}

bool StagedArgument::is_idle(const Layout& some) const {
  bool idle = true;
  static_cast<void>(
      for_each_allocation(user_, origin_, some, [&](const BufferView& view, std::uintptr_t) -> Status {
        idle = idle && transports::is_idle(view);
        return {};
      }));
  return idle;
}

Status StagedArgument::write_back(const Layout& some, const char* why) const {
  return for_each_allocation(user_, origin_, some, [why](const BufferView& view, std::uintptr_t origin) {
    return staged_copy(view.layout.bytes(), BufferKind::pageable, view.buffer.kind, why,
                       [&] { return upload(view, origin); });
  });
}

}  // namespace penstock::interpose
