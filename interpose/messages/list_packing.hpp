// Both sides of a list that may travel as a bitmap, as all protocols begin them: what cannot be is said,
// unless it is usual, and the list goes as it is. Knows no message.
#pragma once

#include <memory>

#include "transports/packing/list_pack.hpp"
#include "transports/packing/list_unpack.hpp"

namespace penstock::interpose {

/// The sender's: begins to look at the list. Null: it goes as it is (ListPack::start).
[[nodiscard]] std::unique_ptr<transports::ListPack> begin_packing(const transports::Place& list,
                                                                  transports::Integer integer,
                                                                  transports::ListOrder order) noexcept;

/// The receiver's: room for its bitmap. Null: the list is to come as it is (ListUnpack::take_room). Only with
/// the room is a sender asked for a bitmap: two processes that both waited for room, which bitmaps fill that
/// the other is to take, would wait for ever.
[[nodiscard]] std::unique_ptr<transports::ListUnpack> room_for_bitmap(const transports::Place& list,
                                                                      transports::Integer integer) noexcept;

}  // namespace penstock::interpose
