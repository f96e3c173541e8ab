#include "interpose/windows/separate/public_copy.hpp"

#include <algorithm>
#include <cstring>

#include "interpose/calls/transfer_record.hpp"
#include "interpose/staging/host_memory.hpp"
#include "interpose/windows/memory/queued_work.hpp"
#include "interpose/windows/separate/differences.hpp"
#include "transports/copies/copy.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/host/guarded.hpp"
#include "transports/host/in_call.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/memory/layout_cursor.hpp"

namespace penstock::interpose {
namespace {

using transports::Buffer;
using transports::BufferKind;
using transports::BufferView;
using transports::Layout;

/// As much as is compared at a time.
constexpr std::size_t chunk_bytes = std::size_t{4} << 20U;

/// Runs of changed bytes this near to each other are copied to device memory as one.
constexpr std::size_t joined_bytes = 64;

std::byte* start_of(const transports::HostMapping& memory) noexcept {
  return reinterpret_cast<std::byte*>(memory.address());
}

}  // namespace

PublicCopy::PublicCopy(void* base, std::size_t bytes) noexcept
    : base_(base), bytes_(bytes), own_(bytes, -1), public_(start_of(own_)), known_(bytes, -1) {}

PublicCopy::PublicCopy(void* base, std::size_t bytes, void* given) noexcept
    : base_(base), bytes_(bytes), public_(static_cast<std::byte*>(given)), known_(bytes, -1) {}

bool PublicCopy::is_freed() const noexcept {
  return !transports::lives_on_device(transports::inspect(base_).kind);
}

Status PublicCopy::begin_alike() noexcept {
  // MPICH and Open MPI may give memory that another window has used
  std::memcpy(start_of(known_), public_, bytes_);
  return transports::guarded([&] {
    const BufferView all{.buffer = transports::inspect(base_), .layout = Layout::contiguous(bytes_)};
    return transports::upload(all, known_.address());
  });
}

Status PublicCopy::make_alike(const char* reason) noexcept {
  return transports::guarded([&]() -> Status {
    const Buffer memory = transports::inspect(base_);
    if (!transports::lives_on_device(memory.kind))
      return {Code::bad_argument, "a window's device memory that was freed"};
    wait_for_queued(memory, transports::time_of_call_ns());
    const std::lock_guard guard(mutex_);
    const HostMemory found = HostMemory::take(std::min(chunk_bytes, bytes_));
    if (found.data() == nullptr) return {Code::out_of_memory, "staging"};
    for (std::size_t offset = 0; offset < bytes_; offset += chunk_bytes) {
      const std::size_t bytes = std::min(chunk_bytes, bytes_ - offset);
      const BufferView chunk{.buffer = memory,
                             .layout = Layout::contiguous(bytes, static_cast<std::ptrdiff_t>(offset))};
      Status step = staged_copy(bytes, memory.kind, BufferKind::pageable, reason,
                                [&] { return transports::download(found.data(), chunk); });
      if (step.ok()) {
        publish(offset, found.data(), bytes);
        step = accept(offset, found.data(), bytes, reason);
      }
      if (!step.ok()) return step;
    }
    return {};
  });
}

void PublicCopy::publish(std::size_t offset, const std::byte* found, std::size_t bytes) noexcept {
  std::byte* const known = start_of(known_) + offset;
  std::byte* const to = public_ + offset;
  // not one byte more, as others may change those beside them
  for_each_difference(found, known, bytes, 0, [&](std::size_t at, std::size_t length) {
    std::memcpy(to + at, found + at, length);
    std::memcpy(known + at, found + at, length);
  });
}

Status PublicCopy::accept(std::size_t offset, std::byte* packed, std::size_t bytes, const char* reason) {
  std::byte* const known = start_of(known_);
  const std::byte* const from = public_ + offset;
  Layout changed;
  for_each_difference(from, known + offset, bytes, joined_bytes, [&](std::size_t at, std::size_t length) {
    std::memcpy(packed + changed.bytes(), from + at, length);
    changed.append({.offset = static_cast<std::ptrdiff_t>(offset + at), .bytes = length});
  });
  if (changed.bytes() == 0) return {};
  const BufferView there{.buffer = transports::inspect(base_), .layout = changed};
  if (Status copied = staged_copy(changed.bytes(), BufferKind::pageable, there.buffer.kind, reason,
                                  [&] { return transports::upload(there, packed); });
      !copied.ok()) {
    return copied;  // they are copied by the next call
  }
  const BufferView alike{.buffer = {.pointer = known}, .layout = changed};
  transports::LayoutCursor cursor(alike.layout);
  return transports::copy_in_host(alike, cursor, packed, changed.bytes());
}

}  // namespace penstock::interpose
