// Cores of a host in the text form of Linux: "0-3,8".
#pragma once

#include <cstdint>
#include <set>
#include <string_view>

namespace penstock::analysis {

using Cores = std::set<std::uint32_t>;

/// Returns the cores of such a text; none: it is no such text, or names more than a host can have.
[[nodiscard]] Cores cores_in(std::string_view text);

/// Returns true if both have a core.
[[nodiscard]] bool have_common(const Cores& left, const Cores& right) noexcept;

}  // namespace penstock::analysis
