// Makes names of functions and kernels readable. Must not know recordings.
#pragma once

#include <string>
#include <string_view>

namespace penstock::analysis {

/// Turns "_Z8exchangeIdEvi" into "exchange<double>": demangles, and drops return type and parameters, which
/// are long and add little.
[[nodiscard]] std::string readable_symbol(const std::string& symbol);

/// Turns a readable name of more than 40 bytes, as templates have, into one for sentences: "ns::(anonymous
/// namespace)::Solver<A, B<C>>::run" into "ns::Solver<…>::run". Others stay as they are.
[[nodiscard]] std::string short_symbol(std::string_view name);

/// Returns true if the user's pattern stands for a function or kernel of this readable name: whole, or
/// without its namespaces, its template arguments or both, as "hop", "hop*" and "kernels::hop" do for
/// "kernels::hop<float, 3>".
[[nodiscard]] bool matches_name(std::string_view pattern, std::string_view name);

}  // namespace penstock::analysis
