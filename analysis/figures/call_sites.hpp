// Names the code behind an address: function, file and line by DWARF where there is debug information, else
// the symbol, else nothing but the module and the offset. Reads executables, no recordings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

namespace penstock::analysis {

/// Empty parts are not known.
struct SourcePlace {
  std::string function;  ///< demangled, without parameters
  std::string file;      ///< as the compiler was given it
  int line = 0;
};

/// Owns what it has opened; a module is read once. Errors: none, what cannot be read stays unnamed.
class CallSites {
 public:
  CallSites();
  ~CallSites();
  /// `return_address` is relative to the module's own addresses (address minus load bias). The call itself
  /// lies before it.
  [[nodiscard]] SourcePlace name(const std::filesystem::path& module, std::uint64_t return_address);

 private:
  class Module;
  std::unordered_map<std::string, std::unique_ptr<Module>> modules_;
};

}  // namespace penstock::analysis
