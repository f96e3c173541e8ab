// Argument checks and error paths that the C functions share.
#pragma once

#include <memory>

#include "examples/gmh/library/task_list.hpp"

namespace gmh {

[[nodiscard]] inline const std::shared_ptr<TaskList>& list_of(gmh_tasklist_t handle) {
  return Thread::current().lists.get(handle);
}

/// Returns the place of a function's result; throws if it is null.
template <typename Value>
[[nodiscard]] Value& result(Value* pointer) {
  if (pointer == nullptr) fail(GMH_ERR_ARGUMENT, "a result is asked for, and there is no place for it");
  return *pointer;
}

/// Reports an error of `body` to all ranks, which may wait for this thread's messages.
template <typename Body>
void or_all_fail(Thread& thread, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    thread.job().failure().set(error);
    throw;
  }
}

}  // namespace gmh
