// Exchanges two faces with the neighbours in time by MPI: device pointers or staged by hand, by requests that
// are made each time or once. Knows nothing of what a face holds.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "examples/dslash/settings.hpp"
#include "examples/dslash/team.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

/// Faces of equal size: `upper` goes forwards in time, `lower` backwards.
struct FacePointers {
  std::byte* upper;
  std::byte* lower;
};

enum class Face { upper, lower };

class FaceExchange {
 public:
  /// Faces are sent from `packed`, `most_bytes` each at most.
  FaceExchange(const Team& team, const Transfer& transfer, FacePointers packed, std::size_t most_bytes);
  ~FaceExchange();
  FaceExchange(const FaceExchange&) = delete;
  FaceExchange& operator=(const FaceExchange&) = delete;

  /// Posts the receives of so many bytes each before there is anything to send, so that no message has to
  /// wait for them. Nobody may still read what was received at the step before the last one. Persistent
  /// requests name their memory, so that `received` must be the same for every second step.
  void post(unsigned step, FacePointers received, std::size_t face_bytes);

  /// Returns once what is packed is where it can be sent from: on the host, where MPI knows no GPU.
  void stage(const example::Stream& stream) const;
  /// Once faces are packed, and staged.
  void send();

  /// Returns once both faces are there for work that is queued on `stream`.
  void finish(const example::Stream& stream);

  /// The next face that has come, of two. It still has to be fetched.
  [[nodiscard]] Face wait_for_one();
  /// A face that has come is there for work that is queued on `stream` from now on.
  void fetch(const example::Stream& stream, Face face) const;
  /// Returns once what was sent may be overwritten.
  void finish_sends();

 private:
  enum Slot { receive_upper, receive_lower, send_upper, send_lower, slots };
  using Requests = std::array<MPI_Request, slots>;

  [[nodiscard]] bool is_staged() const { return transfer_.exchange == example::Exchange::staged_by_hand; }
  [[nodiscard]] bool is_connected() const { return transfer_.without != Stage::comms; }
  void copy(const example::Stream& stream, std::byte* to, const std::byte* from) const;
  /// The set to send from, or one of two to receive into.
  [[nodiscard]] FacePointers host_faces(unsigned set) const;
  [[nodiscard]] FacePointers to_send() const { return is_staged() ? host_faces(0) : packed_; }
  /// Those of this step's set and size, made when they are first needed.
  [[nodiscard]] Requests& persistent_requests(unsigned set);

  Team team_;
  Transfer transfer_;
  FacePointers packed_;
  std::size_t most_bytes_;
  std::size_t face_bytes_ = 0;
  example::PinnedArray<std::byte> host_;
  FacePointers received_{};
  FacePointers to_receive_{};
  Requests made_each_time_;
  std::map<std::pair<unsigned, std::size_t>, Requests> persistent_;  ///< by set and size
  Requests* current_ = &made_each_time_;
  int came_without_comms_ = 0;  ///< faces that were waited for, where none is sent
};

}  // namespace dslash
