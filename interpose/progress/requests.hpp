// The side table: what must still happen for a request beyond the MPI library's own completion. Those who
// post operations hand in a Pending; completion calls and progress drive it. Knows neither transports nor MPI
// wrappers.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/progress/posting_forecast.hpp"

namespace penstock::interpose {

class CallScope;

/// Work that hangs on a request of the MPI library. Owned by the side table from attach() until it is
/// complete. Thread: one at a time.
class Pending {
 public:
  virtual ~Pending() = default;

  /// One step; never blocks and raises no MPI error, as it may be a thread of Penstock's own that drives it.
  /// `arrived`: the MPI library's request is complete, `status` its status (valid only then). Returns true
  /// when everything is done, so that the user's request may complete. It is called again and again, also
  /// before arrival and from other MPI calls of the rank (progress), until it returned true.
  virtual bool advance(bool arrived, const MPI_Status& status) = 0;

  /// After advance() returned true: makes the MPI library's status tell the payload's truth.
  virtual void mend(MPI_Status& status) const { static_cast<void>(status); }

  /// After advance() returned true and the MPI library has released the request with `code`; `status` is
  /// mended. Returns the code of the call, raising through the error handler if the failure is Penstock's
  /// own.
  virtual int complete(MPI_Status& status, int code) {
    static_cast<void>(status);
    return code;
  }

  /// Must other calls of this rank drive it, because another rank may be waiting for it?
  enum class Progress : unsigned char {
    none,
    receive,     ///< only once an envelope may have come
    always,      ///< and driven, it ends whatever the other ranks do
    open_ended,  ///< always too, but only the other rank can end it
  };
  [[nodiscard]] virtual Progress progress() const { return Progress::none; }

  /// This rank is about to be in a call for any length of time in which it steps nothing: what only other
  /// ranks can bring about must not be waited for any more.
  virtual void leaving() {}

  /// The MPI library's request is complete, and advance() follows after those of others that are, too.
  virtual void arrived(const MPI_Status& status) { static_cast<void>(status); }
  /// The MPI library is going to complete the request by itself, or knows it no more: nobody else may ask
  /// about it.
  virtual void detached() {}

  /// Whether a receive may get so much that calls which wait for nothing should look for it, too …
  [[nodiscard]] virtual bool may_be_large() const { return false; }
  /// … and what has arrived, with this status, is so much, and not under way yet.
  [[nodiscard]] virtual bool should_begin(const MPI_Status& arrived) const {
    static_cast<void>(arrived);
    return false;
  }
};

/// How the MPI library is asked whether a request is complete.
enum class Asked : unsigned char {
  by_status,  ///< MPI_Request_get_status, which leaves the request as it is
  /// MPI_Test, which ends the request. MPICH (4.0, 4.1) steps its file operations in the calls that complete
  /// a request only, so that MPI_Request_get_status would never find one complete.
  by_test,
};

/// A posted operation: a request of the MPI library, and what hangs on it (null: nothing).
struct Operation {
  MPI_Request request = MPI_REQUEST_NULL;
  std::unique_ptr<Pending> pending;
  bool unique_handle = false;  ///< no other operation can have the same request handle
  Asked asked = Asked::by_status;
  bool is_persistent = false;  ///< the request is the user's own handle, and stays when the operation is over
};

/// How a persistent operation is posted anew. Owns what it needs of the user's arguments.
class Recipe {
 public:
  virtual ~Recipe() = default;
  /// Returns a PMPI code.
  virtual int start(const CallScope& scope, Operation& operation) = 0;
  [[nodiscard]] virtual Posted posts() const noexcept = 0;
};

/// Hangs `pending` on a request that was just made. An MPI library may hand out one shared handle for all
/// operations that were complete at once, so `*request` may be replaced by a handle of its own; so it is for
/// one that is asked by MPI_Test. Thread: any.
void attach(MPI_Request* request, std::unique_ptr<Pending> pending, Asked asked = Asked::by_status);

/// The same for a posted operation: `*request` becomes the user's handle.
void attach(Operation operation, MPI_Request* request);

/// Each start of `handle`, a persistent request of the MPI library's that is not active, posts an operation
/// by the recipe. The user frees the handle.
void attach_persistent(MPI_Request handle, std::unique_ptr<Recipe> recipe);

}  // namespace penstock::interpose
