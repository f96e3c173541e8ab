// What runs on other numbers of ranks would take, for people and for machines. Computes nothing.
#pragma once

#include <string>

#include "analysis/scaling/scaling.hpp"

namespace penstock::analysis {

/// At most 100 columns.
[[nodiscard]] std::string to_text(const Scaling& scaling, bool colours);

/// Schema "penstock-scale-1", described in the folder's README.
[[nodiscard]] std::string to_json(const Scaling& scaling);

/// Of one run, in a sentence: what its ranks lose now, which is not what more of them would.
[[nodiscard]] std::string efficiencies_in_words(const Report& report);

}  // namespace penstock::analysis
