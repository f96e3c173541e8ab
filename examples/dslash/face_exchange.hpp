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
      host_ = example::PinnedArray<std::byte>(4 * face_bytes);
    }
  }

  /// Sends what is packed, and returns once both faces are there for work that is queued on `stream`.
  void operator()(const example::Stream& stream, FacePointers packed, FacePointers received) {
    if (!is_staged()) {
      transfer(packed, received);
      return;
    }
    const FacePointers to_send{host_.get(), host_.get() + face_bytes_};
    const FacePointers to_receive{host_.get() + 2 * face_bytes_, host_.get() + 3 * face_bytes_};
    copy(stream, to_send, packed);
    stream.synchronize();
    transfer(to_send, to_receive);
    copy(stream, received, to_receive);
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

  void transfer(FacePointers from, FacePointers to) const {
    if (transfer_.without == Stage::comms) {
      return;
    }
    constexpr int upper = 0;
    constexpr int lower = 1;
    const auto count = static_cast<int>(face_bytes_);
    MPI_Request requests[4];
    MPI_Irecv(to.upper, count, MPI_BYTE, team_.behind(), upper, team_.communicator, &requests[0]);
    MPI_Irecv(to.lower, count, MPI_BYTE, team_.ahead(), lower, team_.communicator, &requests[1]);
    MPI_Isend(from.upper, count, MPI_BYTE, team_.ahead(), upper, team_.communicator, &requests[2]);
    MPI_Isend(from.lower, count, MPI_BYTE, team_.behind(), lower, team_.communicator, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }

  Team team_;
  Transfer transfer_;
  std::size_t face_bytes_;
  example::PinnedArray<std::byte> host_;
};

}  // namespace dslash
