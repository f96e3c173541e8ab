// Forecasts whether a list of integers is worth examining for travel as a bitmap. Programs repeat themselves:
// lists that were refused lately are examined less and less often. A program without such lists therefore
// pays next to nothing. Knows no message.
#pragma once

#include <cstdint>

#include "interpose/messages/send_call.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::interpose {

/// A send's list, for an examination that may happen long after the call, when the communicator may be gone.
/// A value.
struct ListLook {
  transports::Integer integers = transports::Integer::none;  ///< its elements; none: not worth examining
  /// The order in which the integers may arrive.
  transports::ListOrder order = transports::ListOrder::kept;
  std::uint16_t experience = 0;  ///< the entry for note_look()
};

/// Called within the send. Thread: any. Cost: some comparisons of handles.
[[nodiscard]] ListLook list_worth_a_look(const SendCall& call) noexcept;

/// Records the result of an examination. Thread: any.
void note_look(const ListLook& look, bool packed) noexcept;

}  // namespace penstock::interpose
