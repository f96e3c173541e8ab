// The report for people: one screen, the verdict first. Knows how to say things, computes nothing.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/report.hpp"

namespace penstock::analysis {

struct TextOptions {
  bool colours = false;
  std::size_t top = 5;  ///< rows of each list
};

/// At most 100 columns; about 45 lines with the default options.
[[nodiscard]] std::string to_text(const Report& report, const TextOptions& options);

}  // namespace penstock::analysis
