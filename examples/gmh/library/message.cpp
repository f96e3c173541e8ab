#include "examples/gmh/library/message.hpp"

#include <climits>

namespace gmh {

Message::Message(GpuEvents& events, const Transfer& transfer) : transfer_(transfer), copied_(events) {
  if (transfer.bytes > INT_MAX)
    fail(GMH_ERR_ARGUMENT, "%s has %zu bytes; MPI counts up to %d", description().c_str(), transfer.bytes,
         INT_MAX);
}

void Message::begin(cudaStream_t stream) {
  stream_ = stream;
  if (!transfer_.is_send || transfer_.host == nullptr) return post();
  check(cudaMemcpyAsync(transfer_.host, transfer_.buffer, transfer_.bytes, cudaMemcpyDeviceToHost, stream),
        "copy a message to the host");
  copied_.record(stream);
  phase_ = Phase::copying_out;
}

void Message::post() {
  const auto bytes = static_cast<int>(transfer_.bytes);
  char* const buffer = transfer_.host != nullptr ? transfer_.host : transfer_.buffer;
  const Route& route = transfer_.route;
  const int error =
      transfer_.is_send
          ? MPI_Isend(buffer, bytes, MPI_BYTE, route.process, route.tag, route.communicator, &request_)
          : MPI_Irecv(buffer, bytes, MPI_BYTE, route.process, route.tag, route.communicator, &request_);
  if (error != MPI_SUCCESS) check_mpi(error, description().c_str());
  phase_ = Phase::travelling;
}

bool Message::poll() {
  if (phase_ == Phase::copying_out) {
    if (!copied_.is_reached()) return false;
    post();
  }
  if (phase_ == Phase::travelling) {
    int arrived = 0;
    const int error = MPI_Test(&request_, &arrived, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) check_mpi(error, description().c_str());
    if (arrived == 0) return false;
    if (transfer_.is_send || transfer_.host == nullptr) {
      phase_ = Phase::idle;
      return true;
    }
    check(cudaMemcpyAsync(transfer_.buffer, transfer_.host, transfer_.bytes, cudaMemcpyHostToDevice, stream_),
          "copy a message to the GPU");
    copied_.record(stream_);
    phase_ = Phase::copying_in;
  }
  if (!copied_.is_reached()) return false;
  phase_ = Phase::idle;
  return true;
}

bool Message::abandon() noexcept {
  if (request_ == MPI_REQUEST_NULL) return false;
  if (!transfer_.is_send) MPI_Cancel(&request_);
  MPI_Request_free(&request_);
  return true;
}

std::string Message::description() const {
  return text("%s rank %d with tag %d", transfer_.is_send ? "send to" : "receive from", transfer_.peer,
              transfer_.tag);
}

}  // namespace gmh
