// Libraries of the process that allocate GPU memory for its program in pools of their own, which decide
// whether other processes can map it.
#pragma once

#include <string>
#include <string_view>

namespace penstock::record {

/// Returns the name of the allocator to which a library belongs, by its path: PyTorch, CuPy or RMM; empty: it
/// has none.
[[nodiscard]] std::string_view allocator_of(std::string_view library) noexcept;

/// Returns those that are loaded, such as "CuPy, PyTorch". Errors: std::bad_alloc.
[[nodiscard]] std::string loaded_allocators();

}  // namespace penstock::record
