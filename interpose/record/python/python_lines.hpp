// Tells the line of an instruction by the table that a code object of CPython has. Knows not where the table
// comes from, and reads nothing else, whatever is in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "interpose/record/python/python_layout.hpp"

namespace penstock::record {

/// Returns the line of the instruction at `offset` (bytes from the code's begin); 0: it has none. `table`:
/// all of it, or its beginning; nullopt if that beginning does not reach so far.
[[nodiscard]] std::optional<int> line_in_table(PythonLayout::Lines kind, std::span<const std::byte> table,
                                               bool is_whole, int first_line, std::uint64_t offset) noexcept;

}  // namespace penstock::record
