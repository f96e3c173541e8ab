// One table as a CSV file: quoting by RFC 4180, lines that end in \n because all tools here accept them, an
// empty cell for unknown values. Must not know recordings.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/export/common/output.hpp"

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
  /// Ends the row. The caller ensures that each row has as many cells as the header.
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
