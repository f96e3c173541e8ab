// Prints a comparison of two versions of a program, for people and for machines. Computes nothing.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/comparison/diff.hpp"
#include "analysis/layout/text_table.hpp"

namespace penstock::analysis {

/// `top`: rows of the list of call sites; `columns`: of the terminal.
[[nodiscard]] std::string to_text(const Diff& diff, bool colours, std::size_t top,
                                  std::size_t columns = screen_columns);

/// Returns JSON of the schema "penstock-diff-1", described in analysis/README.md.
[[nodiscard]] std::string to_json(const Diff& diff);
/// Does the same for a page: on one line, with at most `most_rows` rows of call sites.
[[nodiscard]] std::string to_short_json(const Diff& diff, std::size_t most_rows);

}  // namespace penstock::analysis
