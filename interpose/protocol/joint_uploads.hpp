// The pending receives into device memory whose payloads may arrive through the MPI library and then have to
// be uploaded, at some microseconds each. The call that uploads the first of them uploads all that have
// arrived. Knows no envelopes and no requests.
#pragma once

#include <optional>

#include "transports/host/status.hpp"
#include "transports/small/joint_uploads.hpp"

namespace penstock::interpose {

/// One such receive, from enlist() to its destruction. Thread: one at a time; if several threads may be
/// inside MPI, each payload is uploaded alone.
class JointUpload {
 public:
  JointUpload() = default;
  JointUpload(const JointUpload&) = delete;
  JointUpload& operator=(const JointUpload&) = delete;

 protected:
  ~JointUpload();

  /// Allows other receives to upload this one's payload, at most as many bytes as `view` has.
  void enlist(const transports::BufferView& view) noexcept;
  [[nodiscard]] bool is_enlisted() const noexcept { return next_ != nullptr; }
  /// Uploads this receive's payload, and with it other payloads that have arrived. This receive must be
  /// enlisted and payload() available. Cost: one query of the MPI library in total for receives that are
  /// still pending.
  void upload_with_others();

 private:
  /// Returns true if its message has arrived. `may_ask`: may query the MPI library if that is not known.
  virtual bool has_come(bool may_ask) noexcept = 0;
  /// Returns what has arrived, if it has to be uploaded and its buffer may be written. Both sides must stay
  /// valid until uploaded() is called.
  virtual std::optional<transports::Upload> payload() = 0;
  virtual void uploaded(const Status& status) noexcept = 0;

  // links of a ring of all, in the order of enlisting; null: not enlisted
  JointUpload* previous_ = nullptr;
  JointUpload* next_ = nullptr;
};

}  // namespace penstock::interpose
