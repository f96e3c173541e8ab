// The program's own functions that MPI calls inside of a call: callbacks of attributes, error handlers,
// functions of generalised requests. Runs anything in them. Names no type of MPI.
#pragma once

#include <cstdint>
#include <functional>

namespace penstock::test_support {

enum class Callback : std::uint8_t {
  deleted_attribute,
  deleted_attribute_of_freed_communicator,
  deleted_attribute_of_freed_type,
  copied_attribute,
  copied_attribute_of_type,
  handler_of_the_library,
  called_handler,
  generalised_request,
  count_
};
[[nodiscard]] const char* name_of(Callback callback);

/// Whose communicators have the attributes and handlers.
enum class Caller : std::uint8_t {
  rank,  ///< of the rank alone
  world  ///< of all ranks of the world; all must call
};
/// Whether ranks of the world wait for each other in the call around.
[[nodiscard]] bool is_of_all(Callback callback);

/// Returns whether MPI has called `work`, once, in the callback, and returned an error where it must. May be
/// called in another one.
[[nodiscard]] bool run_in(Callback callback, Caller caller, const std::function<void()>& work);

}  // namespace penstock::test_support
