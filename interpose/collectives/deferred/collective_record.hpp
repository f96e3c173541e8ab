// This header records each non-blocking collective, from its call to its completion, and each start of a
// persistent one. It knows no single collective, nor how it is carried out.
#pragma once

#include <memory>

#include "interpose/calls/call_scope.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

/// Returns what to attach to the request: `pending`, which may be null, and when recording the record of the
/// call of `scope`. Call it before the collective begins, as there may be no memory. Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<Pending> recorded(const CallScope& scope, std::unique_ptr<Pending> pending);

/// Returns the recipe of the persistent collective that the call of `scope` initialises: `recipe`, and when
/// recording a record of each of its starts. Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<Recipe> recorded(const CallScope& scope, std::unique_ptr<Recipe> recipe);

}  // namespace penstock::interpose
