#include "transports/packing/list_launch.hpp"

#include <algorithm>

namespace penstock::transports {
namespace {

/// Enough for every processor of a large GPU; with more data each block does more.
#ifdef PENSTOCK_SIMULATED_GPU
constexpr std::uint64_t most_list_blocks = 4;
#else
constexpr std::uint64_t most_list_blocks = 1056;  // 8 on each of 132
#endif

}  // namespace

Status judge_list(const BufferView& list, Integer integer) noexcept {
  const std::size_t element = bytes_of(integer);
  if (element == 0) return {Code::declined, "not a list of integers"};
  if (!lives_on_device(list.buffer.kind) || !list.layout.is_contiguous())
    return {Code::declined, "a list that does not lie in one piece on a device"};
  const std::uint64_t bytes = list.layout.bytes();
  if (reinterpret_cast<std::uintptr_t>(list.first_byte()) % element != 0 || bytes % element != 0)
    return {Code::declined, "a list that is not aligned to its integers"};
  // a kernel that reads past an allocation destroys the application's context
  if (!list.buffer.holds(list.layout.first_offset(), bytes))
    return {Code::declined, "a list that reaches past its allocation"};
  const std::uint64_t count = bytes / element;
  if (count < 2 || count > UINT32_MAX || most_words(bytes) == 0)
    return {Code::declined, "a list too short or too long for a bitmap"};
  return cuda::Kernels::ready_for(list.buffer);
}

Status launch_list_kernel(cuda::Kernel kernel, std::uint64_t blocks, CUstream stream,
                          void* parameter) noexcept {
  void* arguments[] = {parameter};
  return cuda::check(
      cuda::driver()->cuLaunchKernel(cuda::Kernels::of_process()[kernel],
                                     static_cast<unsigned>(std::min(blocks, most_list_blocks)), 1, 1,
                                     kernels::list_threads, 1, 1, 0, stream, arguments, nullptr),
      "cuLaunchKernel");
}

}  // namespace penstock::transports
