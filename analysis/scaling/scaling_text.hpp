// Prints predictions for other numbers of ranks, for people and for machines. Computes nothing.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/layout/text_table.hpp"
#include "analysis/scaling/scaling.hpp"

namespace penstock::analysis {

[[nodiscard]] std::string to_text(const Scaling& scaling, bool colours, std::size_t columns = screen_columns);

/// Returns JSON of the schema "penstock-scale-1", described in analysis/README.md.
[[nodiscard]] std::string to_json(const Scaling& scaling);

/// Returns one run's efficiencies in a sentence: what its ranks lose now, which differs from what more ranks
/// would lose.
[[nodiscard]] std::string efficiencies_in_words(const Report& report);

}  // namespace penstock::analysis
