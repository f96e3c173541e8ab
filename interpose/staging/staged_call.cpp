#include "interpose/staging/staged_call.hpp"

#include <algorithm>

#include "interpose/node/settings.hpp"
#include "interpose/progress/progress.hpp"
#include "transports/device_memory/parts.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {

bool lies_on_device(const void* buffer) noexcept {
  return buffer != MPI_IN_PLACE && transports::is_on_device(buffer) && settings().move;
}

bool may_be_absolute(const void* buffer) noexcept {
  return buffer == MPI_BOTTOM && transports::cuda_in_use() && settings().move;
}

bool reaches_device(const ByteRange& absolute) noexcept {
  return transports::reaches_device(MPI_BOTTOM, absolute.layout());
}

namespace {

/// Returns the kind of the bytes on a device, if there are any.
transports::BufferKind kind_of(const void* buffer, const ByteRange& region) {
  if (buffer != MPI_BOTTOM) return transports::inspect(buffer).kind;
  return absolute_view(region.layout()).buffer.kind;
}

}  // namespace

void StagedCall::stage(const void*& buffer, const ByteRange& read, const ByteRange& written,
                       std::optional<PackedArgument> packed) {
  note_gpu_use();
  if (scope_->recording()) {
    scope_->buffer(static_cast<trace::BufferKind>(kind_of(buffer, read.empty() ? written : read)));
  }
  Status opened;
  if (packed) {
    PackedArgument& stand_in = packed_.emplace_back(*std::move(packed));
    opened = stand_in.open(!read.empty(), !written.empty());
    buffer = stand_in.address();
  } else {
    StagedArgument& stand_in = buffers_.emplace_back();
    opened = stand_in.open(buffer, read, written);
    buffer = stand_in.address();
  }
  if (status_.ok()) status_ = opened;
}

void StagedCall::narrow(const void* address, std::ptrdiff_t bytes, std::ptrdiff_t offset) noexcept {
  for (StagedArgument& buffer : buffers_) {
    // another stand-in, which spans other bytes, may have the same origin
    if (buffer.address() != address || !buffer.is_written()) continue;
    try {
      buffer.set_written(ByteRange::of_bytes(bytes, offset));
    } catch (const std::bad_alloc&) {
      status_ = {Code::out_of_memory, "staging"};
    }
  }
}

template <typename Copy>
Status StagedCall::for_each_buffer(Copy copy) const noexcept {
  try {
    for (const StagedArgument& buffer : buffers_) {
      if (Status copied = copy(buffer); !copied.ok()) return copied;
    }
    for (const PackedArgument& buffer : packed_) {
      if (Status copied = copy(buffer); !copied.ok()) return copied;
    }
  } catch (const std::bad_alloc&) {
    return {Code::out_of_memory, "staging"};
  }
  return {};
}

template <typename Ask>
bool StagedCall::all_buffers(Ask ask) const noexcept {
  try {
    return std::ranges::all_of(buffers_, ask) && std::ranges::all_of(packed_, ask);
  } catch (const std::bad_alloc&) {
    return true;  // the copy will report it
  }
}

bool StagedCall::may_fetch_now() const noexcept {
  return all_buffers([](const auto& buffer) { return buffer.may_fetch_now(); });
}

bool StagedCall::may_write_back_now() const noexcept {
  return all_buffers([](const auto& buffer) { return buffer.may_write_back_now(); });
}

Status StagedCall::fetch() const noexcept {
  if (!status_.ok()) return status_;
  return for_each_buffer([this](const auto& buffer) { return buffer.fetch(why_); });
}

Status StagedCall::write_back() const noexcept {
  return for_each_buffer([this](const auto& buffer) { return buffer.write_back(why_); });
}

int StagedCall::finish(int code) const {
  if (code != MPI_SUCCESS || !is_staged()) return code;
  const Status copied = status_.ok() ? write_back() : status_;
  return copied.ok() ? code : raise(copied);
}

}  // namespace penstock::interpose
