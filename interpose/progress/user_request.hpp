// One request of an array that the user passes to a completion call, and its entry. Knows the request table;
// not how many requests a call has nor what it waits for.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "interpose/progress/request_table.hpp"

namespace penstock::interpose {

/// Returns the entry of a user's request; null: it has none. Takes RequestTable::Lock.
[[nodiscard]] RequestEntry* find_entry(MPI_Request request);

/// Refers to the user's handle, which it sets to null when the request is over. Thread: one at a time.
class UserRequest {
 public:
  explicit UserRequest(MPI_Request* request) : request_(request), entry_(find_entry(*request)) {}

  [[nodiscard]] bool has_entry() const noexcept { return entry_ != nullptr; }
  /// Returns the entry of an active request; null: it has none.
  [[nodiscard]] RequestEntry* active_entry() const noexcept {
    return entry_ != nullptr && entry_->active ? entry_ : nullptr;
  }

  /// Returns true if the request could be completed now. Completes nothing. True for null and inactive
  /// requests.
  [[nodiscard]] bool is_done() const;
  /// The same for a caller that tests the MPI library's requests itself (Arrivals).
  [[nodiscard]] bool is_done_as_arrived() const;

  /// Completes a request that is done. Returns the code of its operation. Errors of the MPI library are not
  /// raised yet (unraised()); those of Penstock are.
  int complete(MPI_Status& status);
  /// Returns the MPI library's code of the completed request, for the caller to raise.
  [[nodiscard]] int unraised() const noexcept { return unraised_; }

  enum class Outcome : unsigned char { inactive, pending, completed };
  /// Completes the request if it is active and done.
  Outcome try_complete(MPI_Status& status, int& code);

  /// Removes the operation from the table, for a wait by the MPI library itself. Returns null unless the
  /// handle is the operation's own. Under the table's lock.
  [[nodiscard]] std::unique_ptr<Pending> detach();
  [[nodiscard]] bool may_detach() const noexcept { return entry_ == nullptr || entry_->kind == Handle::own; }

 private:
  MPI_Request* request_;
  RequestEntry* entry_;
  int unraised_ = MPI_SUCCESS;
};

/// Raises what complete() left unraised, where the MPI library would for MPI_Wait and similar calls.
int raise_unraised(const UserRequest& request, int code);
/// The same for a call on several requests, which raises one error.
int raise_unraised(const std::vector<UserRequest>& requests, int code);

[[nodiscard]] std::vector<UserRequest> user_requests(int count, MPI_Request* requests);

/// While an object exists, the call that made it steps the entry in every round, and progress() does not.
/// Does nothing when other threads may be inside MPI.
class Attended {
 public:
  explicit Attended(RequestEntry* entry) noexcept : entry_(request_table().is_threaded() ? nullptr : entry) {
    set(true);
  }
  ~Attended() { set(false); }
  Attended(Attended&& other) noexcept : entry_(other.entry_) { other.entry_ = nullptr; }
  Attended& operator=(Attended&&) = delete;

 private:
  void set(bool attended) noexcept {
    if (entry_ != nullptr) request_table().set_attended(*entry_, attended);
  }
  RequestEntry* entry_;
};

}  // namespace penstock::interpose
