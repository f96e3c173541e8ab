// The pending receives into device memory whose payloads may come through the MPI library and then have to be
// uploaded, which takes microseconds each. Those whose payloads have come go up together, by whatever call
// brings the first of them. Knows no envelopes and no requests.
#pragma once

#include <optional>

#include "transports/host/status.hpp"
#include "transports/small/small_copies.hpp"

namespace penstock::interpose {

/// One of them, from enlist() until it goes. Thread: one at a time; where several threads may be inside MPI,
/// each is uploaded alone.
class JointUpload {
 public:
  JointUpload() = default;
  JointUpload(const JointUpload&) = delete;
  JointUpload& operator=(const JointUpload&) = delete;

 protected:
  ~JointUpload();

  /// From now on others may upload this one's payload, into `place` at most.
  void enlist(const transports::Place& place) noexcept;
  [[nodiscard]] bool is_enlisted() const noexcept { return next_ != nullptr; }
  /// This one has been enlisted, and payload() is there: uploads it, and with it those of others that have
  /// come. Cost: of others that have not, one question to the MPI library in all.
  void upload_with_others();

 private:
  /// Has its message come? `may_ask` the MPI library, if that is not known.
  virtual bool has_come(bool may_ask) noexcept = 0;
  /// What has come, if that is to be uploaded and may be now. Both sides stay until uploaded() is called.
  virtual std::optional<transports::Upload> payload() = 0;
  virtual void uploaded(const Status& status) noexcept = 0;

  // In a ring of all, in the order in which they were enlisted; null: it is in none.
  JointUpload* previous_ = nullptr;
  JointUpload* next_ = nullptr;
};

}  // namespace penstock::interpose
