#include "interpose/calls/errors.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "interpose/calls/communicators.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/refusals.hpp"

namespace penstock::interpose {
namespace {

/// Returns the most informative error class for the failure.
int error_class_of(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return MPI_SUCCESS;
    case Code::out_of_memory:
      return MPI_ERR_NO_MEM;
    case Code::bad_argument:
      return MPI_ERR_BUFFER;
    case Code::truncated:
      return MPI_ERR_TRUNCATE;
    case Code::declined:
    case Code::cuda_failed:
    case Code::system_failed:
    case Code::peer_lost:
      break;
  }
  return MPI_ERR_OTHER;
}

}  // namespace

void say_what_was_refused() noexcept {
  for (;;) {
    const auto [consequence, status] = transports::take_refusal();
    if (status.ok()) return;
    notice_refusal(consequence, status);
  }
}

void notice_refusal(const char* consequence, const Status& status) noexcept {
  Line line = format_error(consequence, status);
  // nothing was called, as the driver is too old or there is no GPU; no message was declined
  if (status.code() == Code::declined)
    std::snprintf(line.data(), line.size(), "%s: %s", consequence, status.where());
  record::notice(line.data());
}

Line format_error(const char* what, const Status& status) noexcept {
  Line line;
  switch (status.code()) {
    case Code::cuda_failed:
      std::snprintf(line.data(), line.size(), "%s: %s failed (CUDA error %d)", what, status.where(),
                    status.detail());
      return line;
    case Code::system_failed:
      std::snprintf(line.data(), line.size(), "%s: %s failed (%s)", what, status.where(),
                    std::strerror(status.detail()));
      return line;
    case Code::out_of_memory:
      std::snprintf(line.data(), line.size(), "%s: out of memory in %s", what, status.where());
      return line;
    case Code::peer_lost:
      std::snprintf(line.data(), line.size(), "%s: the other process ended or gave up the message (%s)", what,
                    status.where());
      return line;
    case Code::bad_argument:
      std::snprintf(line.data(), line.size(), "%s: the buffer is in no allocation or exceeds it (%s)", what,
                    status.where());
      return line;
    case Code::truncated:
      std::snprintf(line.data(), line.size(), "%s: %s", what, status.where());
      return line;
    case Code::ok:
    case Code::declined:
      break;
  }
  std::snprintf(line.data(), line.size(), "%s: no transport could carry the message (%s)", what,
                status.where());
  return line;
}

ErrorTarget ErrorTarget::of(MPI_Comm communicator) noexcept {
  ErrorTarget target;
  target.communicator_ = communicator;
  return target;
}

ErrorTarget ErrorTarget::of(std::shared_ptr<CommunicatorInfo> communicator) noexcept {
  ErrorTarget target;
  target.kept_ = std::move(communicator);
  return target;
}

ErrorTarget ErrorTarget::kept() const noexcept {
  if (kind_ != Kind::communicator || kept_ != nullptr) return *this;
  return of(info_of(communicator_));
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
  } else if (kind_ == Kind::window) {
    PMPI_Win_call_errhandler(window_, code);
  } else if (kept_ != nullptr) {
    call_error_handler(kept_, code);
  } else {
    // errors without a communicator are raised on MPI_COMM_WORLD, as in the libraries themselves
    PMPI_Comm_call_errhandler(communicator_ != MPI_COMM_NULL ? communicator_ : MPI_COMM_WORLD, code);
  }
  return code;
}

int ErrorTarget::refuse_device_buffer(const char* mpi_call) const {
  Line line;
  std::snprintf(line.data(), line.size(), "%s: device buffers are not supported in this call", mpi_call);
  record::notice(line.data());
  return raise(MPI_ERR_BUFFER);
}

int ErrorTarget::raise_status(const char* mpi_call, const Status& status) const {
  record::notice(format_error(mpi_call, status).data());
  return raise(error_class_of(status.code()));
}

int ErrorTarget::raise_freed(const char* mpi_call) const {
  return raise_status(mpi_call, {Code::bad_argument, "device memory that was freed"});
}

int raise(MPI_Comm communicator, int code) {
  return ErrorTarget::of(communicator).raise(code);
}

int raise_status(MPI_Comm communicator, const char* mpi_call, const Status& status) {
  return ErrorTarget::of(communicator).raise_status(mpi_call, status);
}

int raise_out_of_memory(MPI_Comm communicator, const char* mpi_call) {
  return raise_status(communicator, mpi_call, {Code::out_of_memory, "Penstock"});
}

int raise_unreadable(MPI_Comm communicator, const char* mpi_call, const UnreadableDatatype& datatype) {
  Line line;
  std::snprintf(line.data(), line.size(), "%s: the datatype cannot be read, as %s failed", mpi_call,
                datatype.what());
  record::notice(line.data());
  return raise(communicator, datatype.code());
}

}  // namespace penstock::interpose
