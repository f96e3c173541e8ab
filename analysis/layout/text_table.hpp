// Lays out columns of text for a terminal: widths by content, and one column shrinks if the line would be too
// long. Assumes that each Unicode character takes one column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::analysis {

/// The width of texts where no terminal's is known.
inline constexpr std::size_t screen_columns = 100;

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
  bool gives_way = false;  ///< shortened with "…" if the table is too wide
};

class TextTable {
 public:
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Returns lines without line ends, the titles first, none wider than `width`.
  [[nodiscard]] std::vector<std::string> lines(std::size_t width) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Returns the number of terminal columns of a UTF-8 text.
[[nodiscard]] std::size_t width_of(std::string_view text) noexcept;
/// Returns at most `width` columns; "…" replaces the lost end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t width);
/// Breaks `text` into lines of at most `width` columns; lines after the first are indented. A number and its
/// unit stay together.
[[nodiscard]] std::vector<std::string> wrapped(std::string_view text, std::size_t width,
                                               std::size_t indent = 0);
/// Removes control characters, so that a recording cannot control a terminal.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace penstock::analysis
