// One table as a CSV file: RFC 4180's quoting, lines that end in \n as all tools here take them, an empty
// cell for what is not known. Knows no recording.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/export/output.hpp"

namespace penstock::analysis::exports {

class CsvTable {
 public:
  /// `columns`: the header line, without its end.
  CsvTable(const std::filesystem::path& file, const std::filesystem::path& shown, std::string_view columns);

  CsvTable& cell(std::integral auto number) {
    separate();
    const fmt::format_int digits(number);
    row_.append(digits.data(), digits.size());
    return *this;
  }
  CsvTable& cell(std::string_view text);
  CsvTable& empty();
  CsvTable& cell_if(bool is_known, std::integral auto number) { return is_known ? cell(number) : empty(); }
  /// Ends the row. All have as many cells as the header has, which is the caller's duty.
  void end_row();
  void close() { file_.close(); }

 private:
  void separate() {
    if (has_cells_) row_ += ',';
    has_cells_ = true;
  }

  OutputFile file_;
  std::string row_;
  bool has_cells_ = false;
};

}  // namespace penstock::analysis::exports
