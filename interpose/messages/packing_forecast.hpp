// Is a list of integers worth looking at, whether it may travel as a bitmap? Programs repeat themselves: what
// was none lately is looked at less and less often, so that looking costs a program without such lists next
// to nothing. Knows no message.
#pragma once

#include <cstdint>

#include "interpose/messages/send_call.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::interpose {

/// What a send's call says of its list, for a look that may come long after: the communicator may be gone by
/// then. A value.
struct ListLook {
  transports::Integer integers = transports::Integer::none;  ///< what it is a list of; none: not worth a look
  /// Whether they may arrive in another order than they lie there.
  transports::ListOrder order = transports::ListOrder::kept;
  std::uint16_t experience = 0;  ///< where to note what comes of the look
};

/// Within the call. Thread: any. Cost: some comparisons of handles.
[[nodiscard]] ListLook list_worth_a_look(const SendCall& call) noexcept;

/// It was looked at. Thread: any.
void note_look(const ListLook& look, bool packed) noexcept;

}  // namespace penstock::interpose
