#include "transports/packing/list_unpack.hpp"

#include <utility>

#include "transports/cuda/kernels.hpp"
#include "transports/host/guarded.hpp"
#include "transports/packing/list_launch.hpp"
#include "transports/stream_order/stream_order.hpp"

namespace penstock::transports {
namespace {

constexpr std::uint32_t whole = 1;  // the flag's value if the bitmap is of such a list

}  // namespace

Status ListUnpack::take_room(const BufferView& list, Integer integer,
                             std::unique_ptr<ListUnpack>& unpack) noexcept {
  return guarded([&]() -> Status {
    if (Status possible = judge_list(list, integer); !possible.ok()) return possible;
    cuda::ContextRef context = cuda::Context::of(list.buffer);
    if (context == nullptr) return cuda::no_driver();
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    cuda::RelaySlice memory;
    const std::size_t bytes = kernels::bitmap_bytes(most_words(list.layout.bytes()));
    if (Status taken = cuda::RelaySlice::take(context, bytes, memory); !taken.ok()) return taken;
    auto made = std::make_unique<ListUnpack>(list, integer, std::move(context), std::move(memory));
    Status prepared = made->prepare();
    if (prepared.ok()) unpack = std::move(made);
    return prepared;
  });
}

ListUnpack::ListUnpack(const BufferView& list, Integer integer, cuda::ContextRef context,
                       cuda::RelaySlice memory) noexcept
    : list_(list), integer_(integer), context_(std::move(context)), memory_(std::move(memory)) {}

/// Takes the flag ahead, so that no resource can be missing once the bitmap is in flight.
Status ListUnpack::prepare() noexcept {
  if (Status made = context_->stream(cuda::StreamUse::upload, stream_); !made.ok()) return made;
  const Status ready = launch_.prepare(context_, stream_);
  return ready.code() == Code::out_of_memory ? Status{Code::declined, ready.where(), ready.detail()} : ready;
}

const BufferView* ListUnpack::room(std::uint64_t words) {
  if (words == 0 || words > most_words(list_.layout.bytes())) return nullptr;
  words_ = words;
  room_.buffer = memory_.buffer();
  room_.layout = Layout::contiguous(kernels::bitmap_bytes(words));
  return &room_;
}

Status ListUnpack::start() noexcept {
  return guarded([&] { return launch(); });
}

Status ListUnpack::launch() noexcept {
  const cuda::ContextScope scope(*context_);
  if (!scope.status().ok()) return scope.status();
  if (Status ordered = cuda::order_after_application(context_, stream_, list_.handed_over_ns); !ordered.ok())
    return ordered;
  kernels::ListUnpacking unpacking{};
  unpacking.bitmap = static_cast<kernels::ListBitmap*>(room_.buffer.pointer);
  unpacking.words = words_;
  unpacking.count = list_.layout.bytes() / bytes_of(integer_);
  unpacking.list = list_.first_byte();
  unpacking.flag = launch_.flag().device_word();
  unpacking.slot = launch_.flag().slot();
  const cuda::Kernel kernel =
      bytes_of(integer_) == 4 ? cuda::Kernel::unpack_list_32 : cuda::Kernel::unpack_list_64;
  Status launched = launch_list_kernel(kernel, kernels::tiles_of(words_), stream_, &unpacking);
  if (launched.ok()) launch_.launched();
  return launched;
}

Status ListUnpack::advance(bool& ended) noexcept {
  if (Status state = launch_.query(ended); !state.ok() || !ended) return state;
  return launch_.flag().value() == whole ? Status{} : Status{Code::peer_lost, "sender's bitmap of a list"};
}

}  // namespace penstock::transports
