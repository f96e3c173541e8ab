// A comparison of two states of a program, for people and for machines. Computes nothing.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/comparison/diff.hpp"

namespace penstock::analysis {

/// At most 100 columns. `top`: rows of the list of call sites.
[[nodiscard]] std::string to_text(const Diff& diff, bool colours, std::size_t top);

/// Schema "penstock-diff-1", described in the folder's README.
[[nodiscard]] std::string to_json(const Diff& diff);
/// The same for a page: on one line, and with no more rows of call sites.
[[nodiscard]] std::string to_short_json(const Diff& diff, std::size_t most_rows);

}  // namespace penstock::analysis
