// Names the code of one executable file. The libraries of the build decide which source this is: with libdw
// functions, also inlined ones, and lines, from DWARF; with libelf alone functions, from the table of
// symbols; with neither nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/naming/source_place.hpp"

namespace penstock::analysis {

/// Returns an empty string if this build tells lines, else why not: "this build of Penstock has no …".
[[nodiscard]] std::string why_no_lines();

/// Errors: none; what cannot be read stays unnamed.
class CodeNames {
 public:
  /// `descriptor`: the file, open; the object owns it.
  CodeNames(const std::filesystem::path& path, int descriptor);
  ~CodeNames();
  /// Returns at least one place, which may be empty. `address`: one of the file's own.
  [[nodiscard]] std::vector<SourcePlace> places(std::uint64_t address) const;

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace penstock::analysis
