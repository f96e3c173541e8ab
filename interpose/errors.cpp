#include "interpose/errors.hpp"

#include <array>
#include <cstdio>
#include <cstring>

#include "interpose/communicators.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

/// The error class that tells a program most about the failure.
int error_class_of(Code code) noexcept {
  switch (code) {
    case Code::ok:
      return MPI_SUCCESS;
    case Code::out_of_memory:
      return MPI_ERR_NO_MEM;
    case Code::bad_argument:
      return MPI_ERR_BUFFER;
    case Code::declined:
    case Code::cuda_failed:
    case Code::system_failed:
    case Code::peer_lost:
      break;
  }
  return MPI_ERR_OTHER;
}

}  // namespace

Line describe(const char* what, const Status& status) noexcept {
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
      std::snprintf(line.data(), line.size(), "%s: the other process is gone (%s)", what, status.where());
      return line;
    case Code::bad_argument:
      std::snprintf(line.data(), line.size(), "%s: the buffer lies in no allocation, or passes its end (%s)",
                    what, status.where());
      return line;
    case Code::ok:
    case Code::declined:
      break;
  }
  std::snprintf(line.data(), line.size(), "%s: no road could carry the message (%s)", what, status.where());
  return line;
}

int raise(MPI_Comm communicator, int code) {
  // errors without a communicator go to MPI_COMM_WORLD's handler, as in the libraries themselves; so do those
  // of messages whose communicator has been freed meanwhile
  const bool is_ours = communicator != MPI_COMM_NULL && !is_gone(communicator);
  PMPI_Comm_call_errhandler(is_ours ? communicator : MPI_COMM_WORLD, code);
  return code;
}

int refuse_device_buffer(MPI_Comm communicator, const char* mpi_call) {
  Line line;
  std::snprintf(line.data(), line.size(), "%s: device buffers are not supported in this call", mpi_call);
  record::notice(line.data());
  return raise(communicator, MPI_ERR_BUFFER);
}

int raise_freed(MPI_Comm communicator, const char* mpi_call) {
  return raise_status(communicator, mpi_call, {Code::bad_argument, "device memory that was freed"});
}

int raise_out_of_memory(MPI_Comm communicator, const char* mpi_call) {
  return raise_status(communicator, mpi_call, {Code::out_of_memory, "Penstock"});
}

int raise_status(MPI_Comm communicator, const char* mpi_call, const Status& status) {
  const Line line = describe(mpi_call, status);
  record::notice(line.data());
  return raise(communicator, error_class_of(status.code()));
}

}  // namespace penstock::interpose
