// A text for a terminal in the making: lines, paragraphs and tables that fit its width, in colours or not.
// Must not know what is said.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "analysis/layout/text_table.hpp"

namespace penstock::analysis {

class TextPage {
 public:
  explicit TextPage(bool has_colours, std::size_t columns = screen_columns)
      : has_colours_(has_colours), columns_(columns) {}

  void line(std::string_view content = "") { (text_ += content) += '\n'; }
  void plain(std::string_view content) { paragraph("", content); }
  void bold(std::string_view content) { paragraph("1", content); }
  void dim(std::string_view content) { paragraph("2", content); }
  void warning(std::string_view content) { paragraph("33", "! " + printable(content)); }
  /// Puts a blank line before the table, and its titles in bold.
  void table(const TextTable& rows);
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  [[nodiscard]] std::string styled(std::string_view code, std::string_view content) const;
  void paragraph(std::string_view code, std::string_view content);

  bool has_colours_;
  std::size_t columns_;
  std::string text_;
};

}  // namespace penstock::analysis
