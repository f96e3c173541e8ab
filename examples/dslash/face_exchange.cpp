#include "examples/dslash/face_exchange.hpp"

namespace dslash {
namespace {

constexpr int upper_tag = 0;
constexpr int lower_tag = 1;

}  // namespace

FaceExchange::FaceExchange(const Team& team, const Transfer& transfer, FacePointers packed,
                           std::size_t most_bytes)
    : team_(team), transfer_(transfer), packed_(packed), most_bytes_(most_bytes) {
  made_each_time_.fill(MPI_REQUEST_NULL);
  if (is_staged()) {
    host_ = example::PinnedArray<std::byte>(6 * most_bytes);
  }
}

FaceExchange::~FaceExchange() {
  for (auto& [key, requests] : persistent_) {
    for (MPI_Request& request : requests) {
      MPI_Request_free(&request);
    }
  }
}

FaceExchange::Requests& FaceExchange::persistent_requests(unsigned set) {
  const auto [entry, is_new] = persistent_.try_emplace({set, face_bytes_});
  Requests& requests = entry->second;
  if (is_new) {
    const auto count = static_cast<int>(face_bytes_);
    const FacePointers from = to_send();
    MPI_Recv_init(to_receive_.upper, count, MPI_BYTE, team_.behind(), upper_tag, team_.communicator,
                  &requests[receive_upper]);
    MPI_Recv_init(to_receive_.lower, count, MPI_BYTE, team_.ahead(), lower_tag, team_.communicator,
                  &requests[receive_lower]);
    MPI_Send_init(from.upper, count, MPI_BYTE, team_.ahead(), upper_tag, team_.communicator,
                  &requests[send_upper]);
    MPI_Send_init(from.lower, count, MPI_BYTE, team_.behind(), lower_tag, team_.communicator,
                  &requests[send_lower]);
  }
  return requests;
}

void FaceExchange::post(unsigned step, FacePointers received, std::size_t face_bytes) {
  const unsigned set = step % 2;
  face_bytes_ = face_bytes;
  received_ = received;
  to_receive_ = is_staged() ? host_faces(1 + set) : received;
  came_without_comms_ = 0;
  if (!is_connected()) {
    return;
  }
  if (transfer_.requests == MpiRequests::persistent) {
    current_ = &persistent_requests(set);
    MPI_Startall(2, &(*current_)[receive_upper]);
    return;
  }
  const auto count = static_cast<int>(face_bytes_);
  MPI_Irecv(to_receive_.upper, count, MPI_BYTE, team_.behind(), upper_tag, team_.communicator,
            &(*current_)[receive_upper]);
  MPI_Irecv(to_receive_.lower, count, MPI_BYTE, team_.ahead(), lower_tag, team_.communicator,
            &(*current_)[receive_lower]);
}

void FaceExchange::stage(const example::Stream& stream) const {
  if (is_staged()) {
    const FacePointers to = host_faces(0);
    copy(stream, to.upper, packed_.upper);
    copy(stream, to.lower, packed_.lower);
    stream.synchronize();
  }
}

void FaceExchange::send() {
  if (!is_connected()) {
    return;
  }
  if (transfer_.requests == MpiRequests::persistent) {
    MPI_Startall(2, &(*current_)[send_upper]);
    return;
  }
  const auto count = static_cast<int>(face_bytes_);
  const FacePointers from = to_send();
  MPI_Isend(from.upper, count, MPI_BYTE, team_.ahead(), upper_tag, team_.communicator,
            &(*current_)[send_upper]);
  MPI_Isend(from.lower, count, MPI_BYTE, team_.behind(), lower_tag, team_.communicator,
            &(*current_)[send_lower]);
}

void FaceExchange::finish(const example::Stream& stream) {
  if (is_connected()) {
    MPI_Waitall(slots, current_->data(), MPI_STATUSES_IGNORE);
  }
  fetch(stream, Face::upper);
  fetch(stream, Face::lower);
}

Face FaceExchange::wait_for_one() {
  int slot = came_without_comms_++;
  if (is_connected()) {
    MPI_Waitany(2, &(*current_)[receive_upper], &slot, MPI_STATUS_IGNORE);
  }
  return slot == receive_upper ? Face::upper : Face::lower;
}

void FaceExchange::fetch(const example::Stream& stream, Face face) const {
  if (is_staged()) {
    face == Face::upper ? copy(stream, received_.upper, to_receive_.upper)
                        : copy(stream, received_.lower, to_receive_.lower);
  }
}

void FaceExchange::finish_sends() {
  if (is_connected()) {
    MPI_Waitall(2, &(*current_)[send_upper], MPI_STATUSES_IGNORE);
  }
}

void FaceExchange::copy(const example::Stream& stream, std::byte* to, const std::byte* from) const {
  if (transfer_.without != Stage::copy) {
    example::check(cudaMemcpyAsync(to, from, face_bytes_, cudaMemcpyDefault, stream.get()), "copy a face");
  }
}

FacePointers FaceExchange::host_faces(unsigned set) const {
  std::byte* const first = host_.get() + 2 * set * most_bytes_;
  return {first, first + most_bytes_};
}

}  // namespace dslash
