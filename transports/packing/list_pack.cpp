#include "transports/packing/list_pack.hpp"

#include <utility>

#include "transports/cuda/kernels.hpp"
#include "transports/host/guarded.hpp"
#include "transports/packing/list_launch.hpp"

namespace penstock::transports {
namespace {

constexpr std::uint32_t not_packed = 1;  // the flag's value if the list is not packed

std::uint64_t sign_of(Integer integer) noexcept {
  return is_signed(integer) ? std::uint64_t{1} << (8 * bytes_of(integer) - 1) : 0;
}

Status launch_kernels(kernels::ListPacking packing, bool is_32, ListOrder order, CUstream stream) noexcept {
  using cuda::Kernel;
  constexpr std::uint64_t integers_of_a_block = std::uint64_t{8} * kernels::list_threads;
  const std::uint64_t blocks = packing.count / integers_of_a_block + 1;
  if (order == ListOrder::kept)
    return launch_list_kernel(is_32 ? Kernel::pack_list_32 : Kernel::pack_list_64, blocks, stream, &packing);
  for (const Kernel kernel : {is_32 ? Kernel::measure_set_32 : Kernel::measure_set_64,
                              is_32 ? Kernel::fill_set_32 : Kernel::fill_set_64}) {
    if (Status launched = launch_list_kernel(kernel, blocks, stream, &packing); !launched.ok())
      return launched;
  }
  return launch_list_kernel(Kernel::place_set, kernels::tiles_of(packing.most_words), stream, &packing);
}

}  // namespace

Status ListPack::start(const BufferView& list, Integer integer, ListOrder order,
                       std::unique_ptr<ListPack>& pack) noexcept {
  return guarded([&]() -> Status {
    if (Status possible = judge_list(list, integer); !possible.ok()) return possible;
    const cuda::ContextRef context = cuda::Context::of(list.buffer);
    if (context == nullptr) return cuda::no_driver();
    const cuda::ContextScope scope(*context);
    if (!scope.status().ok()) return scope.status();
    cuda::RelaySlice memory;
    const std::size_t bytes = kernels::bitmap_bytes(most_words(list.layout.bytes()));
    if (Status taken = cuda::RelaySlice::take(context, bytes, memory); !taken.ok()) return taken;
    auto made = std::make_unique<ListPack>(std::move(memory));
    Status launched = made->launch(list, integer, order, context);
    if (launched.ok()) pack = std::move(made);
    return launched;
  });
}

Status ListPack::launch(const BufferView& list, Integer integer, ListOrder order,
                        const cuda::ContextRef& context) {
  CUstream stream = nullptr;
  if (Status made = context->stream(cuda::StreamUse::relay, stream); !made.ok()) return made;
  if (Status ready = launch_.prepare(context, stream); !ready.ok())
    return {Code::declined, ready.where(), ready.detail()};
  bitmap_.buffer = memory_.buffer();
  kernels::ListPacking packing{};
  packing.list = list.first_byte();
  packing.count = list.layout.bytes() / bytes_of(integer);
  packing.sign = sign_of(integer);
  packing.bitmap = static_cast<kernels::ListBitmap*>(bitmap_.buffer.pointer);
  packing.most_words = most_words(list.layout.bytes());
  packing.flag = launch_.flag().device_word();
  packing.slot = launch_.flag().slot();
  Status cleared =
      cuda::check(cuda::driver()->cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(packing.bitmap), 0,
                                                  kernels::bitmap_bytes(packing.most_words), stream),
                  "cuMemsetD8Async");
  if (!cleared.ok()) return cleared;
  Status launched = launch_kernels(packing, bytes_of(integer) == 4, order, stream);
  if (launched.ok()) launch_.launched();
  return launched;
}

Status ListPack::advance(bool& ended) noexcept {
  if (Status state = launch_.query(ended); !state.ok()) return state;
  if (ended && words() != 0) bitmap_.layout = Layout::contiguous(kernels::bitmap_bytes(words()));
  return {};
}

std::uint64_t ListPack::words() const noexcept {
  const std::uint32_t said = launch_.flag().value();
  return said > not_packed ? said - not_packed : 0;
}

}  // namespace penstock::transports
