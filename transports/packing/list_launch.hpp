// What both sides of a list that travels as a bitmap ask before their kernels, and how these are launched.
#pragma once

#include <cstdint>

#include "transports/cuda/kernels.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::transports {

/// Whether the kernels can read or write such a list. `declined` if not.
[[nodiscard]] Status judge_list(const Place& list, Integer integer) noexcept;

/// For so many blocks' work, with the kernel's one parameter. The context is current.
[[nodiscard]] Status launch_list_kernel(cuda::Kernel kernel, std::uint64_t blocks, CUstream stream,
                                        void* parameter) noexcept;

}  // namespace penstock::transports
