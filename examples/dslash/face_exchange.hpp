// Exchanges two faces with the neighbours in time by MPI: device pointers, or staged by hand. Knows nothing
// of what a face holds.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "examples/dslash/settings.hpp"
#include "examples/dslash/team.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

/// Faces of equal size: `upper` goes forwards in time, `lower` backwards.
struct FacePointers {
  std::byte* upper;
  std::byte* lower;
};

class FaceExchange {
 public:
  FaceExchange(const Team& team, const Transfer& transfer, std::size_t face_bytes)
      : team_(team), transfer_(transfer), face_bytes_(face_bytes) {
    if (is_staged()) {
      host_ = example::PinnedArray<std::byte>(6 * face_bytes);
    }
  }

  /// Posts the receives before there is anything to send, so that no message has to wait for them. Nobody may
  /// still read what was received at the step before the last one.
  void post(unsigned step, FacePointers received) {
    received_ = received;
    to_receive_ = is_staged() ? host_faces(1 + step % 2) : received;
    if (transfer_.without == Stage::comms) {
      return;
    }
    const auto count = static_cast<int>(face_bytes_);
    MPI_Irecv(to_receive_.upper, count, MPI_BYTE, team_.behind(), upper, team_.communicator, &requests_[0]);
    MPI_Irecv(to_receive_.lower, count, MPI_BYTE, team_.ahead(), lower, team_.communicator, &requests_[1]);
  }

  /// Sends what is packed, and returns once both faces are there for work that is queued on `stream`.
  void finish(const example::Stream& stream, FacePointers packed) {
    FacePointers to_send = packed;
    if (is_staged()) {
      to_send = host_faces(0);
      copy(stream, to_send, packed);
      stream.synchronize();
    }
    if (transfer_.without != Stage::comms) {
      const auto count = static_cast<int>(face_bytes_);
      MPI_Isend(to_send.upper, count, MPI_BYTE, team_.ahead(), upper, team_.communicator, &requests_[2]);
      MPI_Isend(to_send.lower, count, MPI_BYTE, team_.behind(), lower, team_.communicator, &requests_[3]);
      MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
    }
    if (is_staged()) {
      copy(stream, received_, to_receive_);
    }
  }

 private:
  [[nodiscard]] bool is_staged() const { return transfer_.exchange == example::Exchange::staged_by_hand; }

  void copy(const example::Stream& stream, FacePointers to, FacePointers from) const {
    if (transfer_.without == Stage::copy) {
      return;
    }
    example::check(cudaMemcpyAsync(to.upper, from.upper, face_bytes_, cudaMemcpyDefault, stream.get()),
                   "copy a face");
    example::check(cudaMemcpyAsync(to.lower, from.lower, face_bytes_, cudaMemcpyDefault, stream.get()),
                   "copy a face");
  }

  /// The set to send from, or one of two to receive into.
  [[nodiscard]] FacePointers host_faces(unsigned set) const {
    std::byte* const first = host_.get() + 2 * set * face_bytes_;
    return {first, first + face_bytes_};
  }

  static constexpr int upper = 0;
  static constexpr int lower = 1;

  Team team_;
  Transfer transfer_;
  std::size_t face_bytes_;
  example::PinnedArray<std::byte> host_;
  FacePointers received_{};
  FacePointers to_receive_{};
  MPI_Request requests_[4] = {};
};

}  // namespace dslash
