// Makes names of functions and kernels readable. Knows no recordings.
#pragma once

#include <string>

namespace penstock::analysis {

/// "_Z8exchangeIdEvi" → "exchange<double>": demangled where it is mangled, without return type and
/// parameters, which say little and take the room.
[[nodiscard]] std::string readable_symbol(const std::string& symbol);

}  // namespace penstock::analysis
