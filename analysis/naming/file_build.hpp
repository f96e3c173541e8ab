// Tells the build of a program or library in a file.
#pragma once

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// Returns the build of an open file, unknown if it is no program or library of this kind of machine. It is
/// the same as the recorder finds when that file is loaded.
[[nodiscard]] trace::ModuleBuild build_of_file(int descriptor) noexcept;

}  // namespace penstock::analysis
