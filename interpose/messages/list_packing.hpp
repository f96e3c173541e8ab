// Starts both sides of a list that may travel as a bitmap, for all protocols. If packing fails for an unusual
// reason, prints a line; the list then travels unchanged. Knows no message.
#pragma once

#include <memory>

#include "transports/packing/list_pack.hpp"
#include "transports/packing/list_unpack.hpp"

namespace penstock::interpose {

/// The sender's side: starts to examine the list. Null: the list travels unchanged (ListPack::start).
[[nodiscard]] std::unique_ptr<transports::ListPack> begin_packing(const transports::BufferView& list,
                                                                  transports::Integer integer,
                                                                  transports::ListOrder order) noexcept;

/// The receiver's side: room for its bitmap. Null: the list must arrive unchanged (ListUnpack::take_room). A
/// receiver requests a bitmap only when it has the room. Otherwise two processes could wait for ever for room
/// that is taken by bitmaps which the other has to receive.
[[nodiscard]] std::unique_ptr<transports::ListUnpack> room_for_bitmap(const transports::BufferView& list,
                                                                      transports::Integer integer) noexcept;

}  // namespace penstock::interpose
