// Tells the build of what is loaded, from its memory alone.
#pragma once

#include <elf.h>

#include <cstdint>
#include <span>

#include "interpose/record/trace_format.hpp"

namespace penstock::record {

/// Returns the build of a program or library by its program headers, as the loader has them. `load_bias`:
/// address minus the file's own virtual address. Memory that cannot be read leaves it unknown. Cost: a system
/// call of a microsecond for each segment of notes; no file is opened.
[[nodiscard]] trace::ModuleBuild build_of_loaded(std::uint64_t load_bias,
                                                 std::span<const Elf64_Phdr> headers) noexcept;

}  // namespace penstock::record
