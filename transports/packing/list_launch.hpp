// Both sides of a list that travels as a bitmap check it here before their kernels, and launch these.
#pragma once

#include <cstdint>

#include "transports/cuda/kernels.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::transports {

/// Returns whether the kernels can read or write such a list. `declined` if not.
[[nodiscard]] Status judge_list(const BufferView& list, Integer integer) noexcept;

/// Launches the kernel for the work of that many blocks, with its one parameter. The context is current.
[[nodiscard]] Status launch_list_kernel(cuda::Kernel kernel, std::uint64_t blocks, CUstream stream,
                                        void* parameter) noexcept;

}  // namespace penstock::transports
