// Texts for a terminal of any width: paragraphs whose code stands in `backticks`, and terms with what they
// mean beside or below them. Must not know what is said.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::cli {

struct Screen {
  std::size_t columns;
  bool has_colours;
};

/// Breaks each line of the text; lines that begin with blanks continue where their second column begins ("
/// term   meaning"). Ends with a line end.
[[nodiscard]] std::string paragraphs(std::string_view text, const Screen& screen, std::size_t indent = 0);

/// Returns a term, and its meaning from a column on: below the term if that is too long.
[[nodiscard]] std::string entry(std::string_view term, std::string_view meaning, const Screen& screen);

/// Returns the text in bold, where there are colours.
[[nodiscard]] std::string heading(std::string_view text, const Screen& screen);

}  // namespace penstock::cli
