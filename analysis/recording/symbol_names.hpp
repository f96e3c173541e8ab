// Makes names of functions and kernels readable. Must not know recordings.
#pragma once

#include <string>

namespace penstock::analysis {

/// Turns "_Z8exchangeIdEvi" into "exchange<double>": demangles, and drops return type and parameters, which
/// are long and add little.
[[nodiscard]] std::string readable_symbol(const std::string& symbol);

}  // namespace penstock::analysis
