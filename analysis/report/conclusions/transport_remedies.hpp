// What helps where messages went through host memory, by the reason that was recorded. Must not know figures.
#pragma once

#include <string>
#include <string_view>

namespace penstock::analysis {

/// What to do about a reason.
struct TransportRemedy {
  std::string text;        ///< sentences; empty: nothing is known to help
  std::string_view title;  ///< in a few words; empty: as such advice is called
};

/// `allocators`: those that the program has loaded, as RunFacts names them.
[[nodiscard]] TransportRemedy remedy_of(std::string_view reason, std::string_view allocators);

}  // namespace penstock::analysis
