#include "interpose/messages/list_packing.hpp"

#include "interpose/calls/errors.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock::interpose {
namespace {

void say_what_failed(const Status& begun) noexcept {
  if (!begun.ok() && begun.code() != Code::declined)
    record::notice(format_error("packing a list", begun).data());
}

}  // namespace

std::unique_ptr<transports::ListPack> begin_packing(const transports::BufferView& list,
                                                    transports::Integer integer,
                                                    transports::ListOrder order) noexcept {
  std::unique_ptr<transports::ListPack> pack;
  say_what_failed(transports::ListPack::start(list, integer, order, pack));
  return pack;
}

std::unique_ptr<transports::ListUnpack> room_for_bitmap(const transports::BufferView& list,
                                                        transports::Integer integer) noexcept {
  std::unique_ptr<transports::ListUnpack> unpack;
  say_what_failed(transports::ListUnpack::take_room(list, integer, unpack));
  return unpack;
}

}  // namespace penstock::interpose
