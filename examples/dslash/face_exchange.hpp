// Exchanges faces with the neighbours by MPI: device pointers or staged by hand, by requests that are made
// each time or once. Knows nothing of what a face holds.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "examples/dslash/fields.hpp"
#include "examples/dslash/settings.hpp"
#include "examples/dslash/team.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

class FaceExchange {
 public:
  /// Faces are sent from `packed`, so many bytes each at most.
  FaceExchange(const Team& team, const Transfer& transfer, const FacePointers& packed, const FaceBytes& most);
  ~FaceExchange();
  FaceExchange(const FaceExchange&) = delete;
  FaceExchange& operator=(const FaceExchange&) = delete;

  /// Posts the receives of so many bytes each before there is anything to send, so that no message has to
  /// wait for them. Nobody may still read what was received at the step before the last one. Persistent
  /// requests name their memory, so that `received` must be the same for every second step.
  void post(unsigned step, const FacePointers& received, const FaceBytes& bytes);

  /// Returns once what is packed is where it can be sent from: on the host, where MPI knows no GPU.
  void stage(const example::Stream& stream) const;
  /// Once faces are packed, and staged.
  void send();

  /// Returns once all faces are there for work that is queued on `stream`.
  void finish(const example::Stream& stream);

  [[nodiscard]] const std::vector<Face>& faces() const { return faces_; }
  /// The next face that has come, of all. It still has to be fetched.
  [[nodiscard]] Face wait_for_one();
  /// A face that has come is there for work that is queued on `stream` from now on.
  void fetch(const example::Stream& stream, Face face) const;
  /// Returns once what was sent may be overwritten.
  void finish_sends();

 private:
  struct Requests {
    std::vector<MPI_Request> receives;
    std::vector<MPI_Request> sends;
  };

  [[nodiscard]] bool is_staged() const { return transfer_.exchange == example::Exchange::staged_by_hand; }
  [[nodiscard]] bool is_connected() const { return transfer_.without != Stage::comms; }
  [[nodiscard]] bool is_persistent() const { return transfer_.requests == MpiRequests::persistent; }
  [[nodiscard]] int face_count() const { return static_cast<int>(faces_.size()); }
  [[nodiscard]] int count_of(Face face) const { return static_cast<int>(bytes_[face]); }
  void copy(const example::Stream& stream, Face face, std::byte* to, const std::byte* from) const;
  /// The set to send from, or one of two to receive into.
  [[nodiscard]] FacePointers host_faces(unsigned set) const;
  [[nodiscard]] FacePointers to_send() const { return is_staged() ? host_faces(0) : packed_; }
  /// Those of this step's set and sizes, made when they are first needed.
  [[nodiscard]] Requests& persistent_requests(unsigned set);

  Team team_;
  Transfer transfer_;
  std::vector<Face> faces_;
  FacePointers packed_;
  FaceBytes most_;
  std::size_t set_bytes_ = 0;
  FaceBytes bytes_{};
  example::PinnedArray<std::byte> host_;
  FacePointers received_{};
  FacePointers to_receive_{};
  Requests made_each_time_;
  std::map<std::pair<unsigned, FaceBytes>, Requests> persistent_;  ///< by set and sizes
  Requests* current_ = &made_each_time_;
  std::size_t came_without_comms_ = 0;  ///< faces that were waited for, where none is sent
};

}  // namespace dslash
