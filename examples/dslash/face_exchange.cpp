#include "examples/dslash/face_exchange.hpp"

namespace dslash {

FaceExchange::FaceExchange(const Team& team, const Transfer& transfer, const FacePointers& packed,
                           const FaceBytes& most)
    : team_(team), transfer_(transfer), packed_(packed), most_(most) {
  for (int face = 0; face < most_faces; ++face) {
    if (team.slab.has(static_cast<Face>(face))) {
      faces_.push_back(static_cast<Face>(face));
      set_bytes_ += most[static_cast<std::size_t>(face)];
    }
  }
  made_each_time_ = {std::vector<MPI_Request>(faces_.size(), MPI_REQUEST_NULL),
                     std::vector<MPI_Request>(faces_.size(), MPI_REQUEST_NULL)};
  if (is_staged() && set_bytes_ > 0) {
    host_ = example::PinnedArray<std::byte>(3 * set_bytes_);
  }
}

FaceExchange::~FaceExchange() {
  for (auto& [key, requests] : persistent_) {
    for (auto* const some : {&requests.receives, &requests.sends}) {
      for (MPI_Request& request : *some) {
        MPI_Request_free(&request);
      }
    }
  }
}

FaceExchange::Requests& FaceExchange::persistent_requests(unsigned set) {
  const auto [entry, is_new] = persistent_.try_emplace({set, bytes_}, made_each_time_);
  Requests& requests = entry->second;
  if (is_new) {
    const FacePointers from = to_send();
    for (std::size_t i = 0; i < faces_.size(); ++i) {
      const Face face = faces_[i];
      MPI_Recv_init(to_receive_[face], count_of(face), MPI_BYTE, team_.source(face), face, team_.communicator,
                    &requests.receives[i]);
      MPI_Send_init(from[face], count_of(face), MPI_BYTE, team_.destination(face), face, team_.communicator,
                    &requests.sends[i]);
    }
  }
  return requests;
}

void FaceExchange::post(unsigned step, const FacePointers& received, const FaceBytes& bytes) {
  const unsigned set = step % 2;
  bytes_ = bytes;
  received_ = received;
  to_receive_ = is_staged() ? host_faces(1 + set) : received;
  came_without_comms_ = 0;
  if (!is_connected()) {
    return;
  }
  if (is_persistent()) {
    current_ = &persistent_requests(set);
    MPI_Startall(face_count(), current_->receives.data());
    return;
  }
  for (std::size_t i = 0; i < faces_.size(); ++i) {
    const Face face = faces_[i];
    MPI_Irecv(to_receive_[face], count_of(face), MPI_BYTE, team_.source(face), face, team_.communicator,
              &current_->receives[i]);
  }
}

void FaceExchange::stage(const example::Stream& stream) const {
  if (is_staged()) {
    const FacePointers to = host_faces(0);
    for (const Face face : faces_) {
      copy(stream, face, to[face], packed_[face]);
    }
    stream.synchronize();
  }
}

void FaceExchange::send() {
  if (!is_connected()) {
    return;
  }
  if (is_persistent()) {
    MPI_Startall(face_count(), current_->sends.data());
    return;
  }
  const FacePointers from = to_send();
  for (std::size_t i = 0; i < faces_.size(); ++i) {
    const Face face = faces_[i];
    MPI_Isend(from[face], count_of(face), MPI_BYTE, team_.destination(face), face, team_.communicator,
              &current_->sends[i]);
  }
}

void FaceExchange::finish(const example::Stream& stream) {
  if (is_connected()) {
    MPI_Waitall(face_count(), current_->receives.data(), MPI_STATUSES_IGNORE);
  }
  for (const Face face : faces_) {
    fetch(stream, face);
  }
  finish_sends();
}

Face FaceExchange::wait_for_one() {
  if (!is_connected()) {
    return faces_[came_without_comms_++];
  }
  int index = 0;
  MPI_Waitany(face_count(), current_->receives.data(), &index, MPI_STATUS_IGNORE);
  return faces_[static_cast<std::size_t>(index)];
}

void FaceExchange::fetch(const example::Stream& stream, Face face) const {
  if (is_staged()) {
    copy(stream, face, received_[face], to_receive_[face]);
  }
}

void FaceExchange::finish_sends() {
  if (is_connected()) {
    MPI_Waitall(face_count(), current_->sends.data(), MPI_STATUSES_IGNORE);
  }
}

void FaceExchange::copy(const example::Stream& stream, Face face, std::byte* to,
                        const std::byte* from) const {
  if (transfer_.without != Stage::copy) {
    example::check(cudaMemcpyAsync(to, from, bytes_[face], cudaMemcpyDefault, stream.get()), "copy a face");
  }
}

FacePointers FaceExchange::host_faces(unsigned set) const {
  FacePointers pointers{};
  std::byte* next = host_.get() + set * set_bytes_;
  for (const Face face : faces_) {
    pointers[face] = next;
    next += most_[face];
  }
  return pointers;
}

}  // namespace dslash
