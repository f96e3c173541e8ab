// Argument checks that all C functions share.
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

}  // namespace gmh
