#include "interpose/staged_call.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "interpose/errors.hpp"
#include "interpose/progress.hpp"
#include "interpose/record/recorder.hpp"
#include "interpose/settings.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {

ErrorTarget ErrorTarget::of(MPI_Comm communicator) noexcept {
  ErrorTarget target;
  target.communicator_ = communicator;
  return target;
}

ErrorTarget ErrorTarget::of_file(MPI_File file) noexcept {
  ErrorTarget target;
  target.kind_ = Kind::file;
  target.file_ = file;
  return target;
}

ErrorTarget ErrorTarget::of_window(MPI_Win window) noexcept {
  ErrorTarget target;
  target.kind_ = Kind::window;
  target.window_ = window;
  return target;
}

int ErrorTarget::raise(int code) const {
  if (kind_ == Kind::file) {
    PMPI_File_call_errhandler(file_, code);
  } else {
    PMPI_Win_call_errhandler(window_, code);
  }
  return code;
}

int ErrorTarget::refuse_device_buffer(const char* mpi_call) const {
  if (kind_ == Kind::communicator) return interpose::refuse_device_buffer(communicator_, mpi_call);
  std::array<char, 128> line;
  std::snprintf(line.data(), line.size(), "%s: device buffers are not supported in this call", mpi_call);
  record::notice(line.data());
  return raise(MPI_ERR_BUFFER);
}

int ErrorTarget::raise_status(const char* mpi_call, const Status& status) const {
  if (kind_ == Kind::communicator) return interpose::raise_status(communicator_, mpi_call, status);
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(), "%s: staging failed (%s)", mpi_call, status.where());
  record::notice(line.data());
  return raise(status.code() == Code::out_of_memory ? MPI_ERR_NO_MEM : MPI_ERR_OTHER);
}

bool lies_on_device(const void* buffer) noexcept {
  return buffer != MPI_IN_PLACE && transports::is_on_device(buffer) && settings().move;
}

bool may_be_absolute(const void* buffer) noexcept {
  return buffer == MPI_BOTTOM && transports::cuda_in_use() && settings().move;
}

bool reaches_device(const Region& absolute) noexcept {
  return std::ranges::any_of(absolute.layout().blocks(), [](const transports::Block& block) {
    return transports::is_on_device(reinterpret_cast<const void*>(block.offset));
  });
}

void StagedCall::stage(const void*& buffer, const Region& read, const Region& written) {
  if (read.empty() && written.empty()) return;  // nobody will look at the address
  note_gpu_use();
  if (scope_->recording()) {
    scope_->buffer(static_cast<trace::BufferKind>(transports::inspect(buffer).kind));
  }
  StagedBuffer& stand_in = buffers_.emplace_back();
  Status opened = stand_in.open(buffer, read, written);
  buffer = stand_in.address();
  if (status_.ok()) status_ = opened;
}

void StagedCall::narrow(const void* address, std::ptrdiff_t bytes, std::ptrdiff_t offset) noexcept {
  for (StagedBuffer& buffer : buffers_) {
    if (buffer.address() != address) continue;
    try {
      buffer.set_written(Region::of_bytes(bytes, offset));
    } catch (const std::bad_alloc&) {
      status_ = {Code::out_of_memory, "staging"};
    }
  }
}

Status StagedCall::write_back() const noexcept {
  try {
    for (const StagedBuffer& buffer : buffers_) {
      if (Status copied = buffer.write_back(); !copied.ok()) return copied;
    }
  } catch (const std::bad_alloc&) {
    return {Code::out_of_memory, "staging"};
  }
  return {};
}

int StagedCall::finish(int code) const {
  if (code != MPI_SUCCESS || !is_staged()) return code;
  const Status copied = status_.ok() ? write_back() : status_;
  return copied.ok() ? code : raise(copied);
}

}  // namespace penstock::interpose
