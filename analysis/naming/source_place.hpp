// A place in a program's source.
#pragma once

#include <string>

namespace penstock::analysis {

/// Empty parts are unknown.
struct SourcePlace {
  std::string function;   ///< demangled, without parameters
  std::string qualified;  ///< with its namespaces, where that is known
  std::string file;       ///< as the compiler received it
  int line = 0;
};

}  // namespace penstock::analysis
