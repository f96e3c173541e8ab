// The recording of one non-blocking collective, from its call to its completion, and of each start of a
// persistent one. Knows no single collective, nor how it is carried out.
#pragma once

#include <memory>

#include "interpose/calls/call_scope.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

/// What is to hang on the request: `pending`, which may be null, and when recording the record of the call
/// that `scope` is of. To be made before the collective begins, as there may be no memory for it
/// (std::bad_alloc).
[[nodiscard]] std::unique_ptr<Pending> recorded(const CallScope& scope, std::unique_ptr<Pending> pending);

/// What is to stand for a persistent collective that the call which `scope` is of has initialised: `recipe`,
/// and when recording a record of each of its starts. Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<Recipe> recorded(const CallScope& scope, std::unique_ptr<Recipe> recipe);

}  // namespace penstock::interpose
