// Patterns as shells have them. Must not know what they are matched with.
#pragma once

#include <string_view>

namespace penstock::analysis {

/// Returns true if the pattern stands for the whole text: `*` for any characters, `?` for one.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view text);

}  // namespace penstock::analysis
