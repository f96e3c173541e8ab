// The request table: what must happen for a request beyond the MPI library's own completion. Code that posts
// operations passes a Pending; completion calls and progress step it. Knows neither transports nor MPI
// wrappers.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/progress/posting_forecast.hpp"

namespace penstock::interpose {

class CallScope;

/// Pending work of a request of the MPI library. Owned by the request table from attach() until it is
/// complete. Thread: one at a time.
class Pending {
 public:
  virtual ~Pending() = default;

  /// Takes one step. Never blocks and raises no MPI error, as a thread of Penstock's own may call it.
  /// `arrived`: the MPI library's request is complete, and `status` is its status (valid only then). Returns
  /// true when everything is done and the user's request may complete. Called repeatedly until then, also
  /// before arrival and from other MPI calls of the rank (progress).
  virtual bool advance(bool arrived, const MPI_Status& status) = 0;

  /// After advance() returned true: replaces the MPI library's status by the payload's.
  virtual void fix_status(MPI_Status& status) const { static_cast<void>(status); }

  /// Called after advance() returned true and the MPI library has released the request with `code`; `status`
  /// is already fixed. Returns the code of the call. A failure of Penstock's own is raised through the error
  /// handler.
  virtual int complete(MPI_Status& status, int code) {
    static_cast<void>(status);
    return code;
  }

  /// The need for steps by other calls of this rank, as another rank may be waiting.
  enum class Progress : unsigned char {
    none,
    receive,     ///< only once an envelope may have arrived
    always,      ///< yes, and then it ends whatever the other ranks do
    open_ended,  ///< yes, but only the other rank can end it
  };
  [[nodiscard]] virtual Progress progress() const { return Progress::none; }

  /// Called before a call of any length in which this rank steps nothing. From now on it must not wait for
  /// what only other ranks can do.
  virtual void leaving() {}

  /// Called when the MPI library's request is complete. advance() follows after the arrived() of other
  /// complete ones.
  virtual void arrived(const MPI_Status& status) { static_cast<void>(status); }
  /// Called when the MPI library will complete the request itself or no longer knows it: no other code may
  /// query it.
  virtual void detached() {}

  /// Cancels the operation by the MPI library's `request`, or lets it complete instead, if that does not
  /// depend on what other ranks do from now on. Returns the call's code. Called without RequestTable::Lock.
  virtual int cancel(MPI_Request& request) { return PMPI_Cancel(&request); }

  /// Returns true if a receive may get a payload so large that calls which wait for nothing should look for
  /// it …
  [[nodiscard]] virtual bool may_be_large() const { return false; }
  /// … and true if what has arrived, with this status, is so large and has not been started.
  [[nodiscard]] virtual bool should_begin(const MPI_Status& arrived) const {
    static_cast<void>(arrived);
    return false;
  }
};

/// How a request is tested in the MPI library.
enum class Asked : unsigned char {
  by_status,  ///< MPI_Request_get_status, which does not change the request
  /// MPI_Test, which ends the request. MPICH 4.0 and 4.1 step their file operations only in calls that
  /// complete a request, so MPI_Request_get_status would never find one complete.
  by_test,
};

/// A posted operation: a request of the MPI library and its pending work (null: none).
struct Operation {
  MPI_Request request = MPI_REQUEST_NULL;
  std::unique_ptr<Pending> pending;
  bool unique_handle = false;  ///< no other operation can have the same request handle
  Asked asked = Asked::by_status;
  /// Not null: the request is tested once those of the operations on the same thing that were posted before
  /// are complete.
  const void* in_turn_on = nullptr;
  bool is_persistent = false;  ///< the request is the user's own handle, and persists after the operation
};

/// Cancels the operation, whose request must not be null.
inline int cancel(Operation& operation) {
  return operation.pending != nullptr ? operation.pending->cancel(operation.request)
                                      : PMPI_Cancel(&operation.request);
}

/// How to post a persistent operation anew. Owns what it needs of the user's arguments.
class Recipe {
 public:
  virtual ~Recipe() = default;
  /// Returns a PMPI code.
  virtual int start(const CallScope& scope, Operation& operation) = 0;
  [[nodiscard]] virtual Posted posts() const noexcept = 0;
};

/// Attaches `pending` to a request that was just made. An MPI library may return one shared handle for all
/// operations that completed at once. `*request` may therefore be replaced by a unique handle; always if
/// `asked` is by_test. `in_turn_on`: as an operation's. Thread: any.
void attach(MPI_Request* request, std::unique_ptr<Pending> pending, Asked asked = Asked::by_status,
            const void* in_turn_on = nullptr);

/// The same for a posted operation: sets `*request` to the user's handle.
void attach(Operation operation, MPI_Request* request);

/// Attaches a recipe to `handle`, an inactive persistent request of the MPI library: each start posts an
/// operation. The user frees the handle.
void attach_persistent(MPI_Request handle, std::unique_ptr<Recipe> recipe);

}  // namespace penstock::interpose
