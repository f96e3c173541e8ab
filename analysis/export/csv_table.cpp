#include "analysis/export/csv_table.hpp"

namespace penstock::analysis::exports {

CsvTable::CsvTable(const std::filesystem::path& file, const std::filesystem::path& shown,
                   std::string_view columns)
    : file_(file, shown) {
  file_.write(columns);
  file_.write("\n");
}

CsvTable& CsvTable::cell(std::string_view text) {
  separate();
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    row_ += text;
    return *this;
  }
  row_ += '"';
  for (const char c : text) {
    if (c == '"') row_ += '"';
    row_ += c;
  }
  row_ += '"';
  return *this;
}

CsvTable& CsvTable::empty() {
  separate();
  return *this;
}

void CsvTable::end_row() {
  row_ += '\n';
  file_.write(row_);
  row_.clear();
  has_cells_ = false;
}

}  // namespace penstock::analysis::exports
