// Is a list of integers worth looking at, whether it may travel as a bitmap? Programs repeat themselves: what
// was none lately is looked at less and less often, so that looking costs a program without such lists next
// to nothing. Knows no message.
#pragma once

#include <mpi.h>

#include "interpose/messages/send_call.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::interpose {

/// What such a send is a list of, if it is worth a look; else none. Thread: any. Cost: some comparisons of
/// handles.
[[nodiscard]] transports::Integer list_worth_a_look(const SendCall& call) noexcept;

/// Whether its integers may arrive in another order than they lie there. Thread: any.
[[nodiscard]] transports::ListOrder order_of(const SendCall& call) noexcept;

/// It was looked at. Thread: any.
void note_look(const SendCall& call, transports::Integer integer, bool packed) noexcept;

}  // namespace penstock::interpose
