// Names of a recording's code, kept beside the recording by the first command that names it: the program may
// be rebuilt in its place afterwards, and its names would be lost. Must not know how code is named.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/naming/source_place.hpp"
#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// Code of a build that ran.
struct CodeAddress {
  std::string module;  ///< path
  trace::ModuleBuild build{};
  std::uint64_t address = 0;  ///< relative to the module's own addresses
  auto operator<=>(const CodeAddress&) const = default;
};

/// Thread: one at a time.
class KeptNames {
 public:
  /// Reads what was kept in the folder of a recording. Where there is no such folder, as beside one rank's
  /// file, or what is there is damaged, nothing is known.
  explicit KeptNames(const std::filesystem::path& recording);
  /// Returns nullptr for what is not known. Names of an address stay valid as long as the object.
  [[nodiscard]] const std::vector<SourcePlace>* find(const CodeAddress& code) const;
  /// Only for builds that a rebuilt file can be told from: others are left out. What is known already stays,
  /// unless it has no line and this has one.
  void keep(const CodeAddress& code, const std::vector<SourcePlace>& places);
  /// Writes what has been added. Where the folder cannot be written, nothing is kept.
  void save();

 private:
  void read();

  std::filesystem::path file_;  ///< empty: nothing is kept
  std::map<CodeAddress, std::vector<SourcePlace>> names_;
  bool has_new_ = false;
};

}  // namespace penstock::analysis
