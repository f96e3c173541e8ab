// Names the code behind an address: function, file and line from DWARF if there is debug information, else
// the symbol, else only the module and the offset. Reads executables; must not know recordings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace penstock::analysis {

/// Empty parts are unknown.
struct SourcePlace {
  std::string function;   ///< demangled, without parameters
  std::string qualified;  ///< with its namespaces, where that is known
  std::string file;       ///< as the compiler received it
  int line = 0;
};

/// Owns the files it has opened; each module is read once. Errors: none; what cannot be read stays unnamed.
class CallSites {
 public:
  CallSites();
  ~CallSites();
  /// Names the code of a call: the function that makes it and, where that is inlined, those that it is
  /// inlined into; at least one place, which may be empty. `return_address` is relative to the module's own
  /// addresses (address minus load bias); the call itself lies before it.
  [[nodiscard]] std::vector<SourcePlace> places(const std::filesystem::path& module,
                                                std::uint64_t return_address);
  /// Returns the first of places().
  [[nodiscard]] SourcePlace name(const std::filesystem::path& module, std::uint64_t return_address) {
    return places(module, return_address).front();
  }

 private:
  class Module;
  std::unordered_map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace penstock::analysis
