// Names the code behind an address: function, file and line from DWARF if there is debug information, else
// the symbol, else only the module and the offset. Names nothing by a file that is another build than the one
// that ran; then, and where the file is gone, by what was kept when it was there. Reads executables; must not
// know recordings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/naming/kept_names.hpp"
#include "analysis/naming/source_place.hpp"
#include "analysis/recording/flaw.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// What is known of the file by which a module's code is named.
enum class NamedBy : std::uint8_t {
  same_build,     ///< that ran, what was kept of it, or there is no file
  unknown_build,  ///< nothing tells another build, but nothing rules it out
  other_build,    ///< at least once: nothing was named by it
};

/// By the path of each module that was asked for, the worst of what is known of it.
using NamedModules = std::map<std::string, NamedBy>;

/// Returns what is to be said of modules that are another build now.
[[nodiscard]] std::vector<Flaw> flaws_of_other_builds(const NamedModules& modules);

/// Owns the files it has opened; each module is read once. Errors: none; what cannot be read stays unnamed.
class CallSites {
 public:
  /// `kept`, if any, must outlive the object.
  explicit CallSites(KeptNames* kept = nullptr);
  ~CallSites();
  /// Names the code of a call: the function that makes it and, where that is inlined, those that it is
  /// inlined into; at least one place, which may be empty. `return_address` is relative to the module's own
  /// addresses (address minus load bias); the call itself lies before it. `build`: the one that ran.
  [[nodiscard]] std::vector<SourcePlace> places(const std::filesystem::path& module,
                                                const trace::ModuleBuild& build,
                                                std::uint64_t return_address);
  /// Returns the first of places().
  [[nodiscard]] SourcePlace name(const std::filesystem::path& module, const trace::ModuleBuild& build,
                                 std::uint64_t return_address) {
    return places(module, build, return_address).front();
  }
  [[nodiscard]] const NamedModules& modules() const noexcept { return named_by_; }

 private:
  class Module;
  Module& open(const std::filesystem::path& module);

  KeptNames* kept_;
  std::map<std::string, std::unique_ptr<Module>> modules_;
  NamedModules named_by_;
};

}  // namespace penstock::analysis
