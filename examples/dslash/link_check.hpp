// Links as kernels read them, beside where they come from.
#pragma once

#include "examples/dslash/hop.hpp"

namespace dslash {

/// The largest difference of a number of any link, those of the slice before included, from the model's.
/// Collective.
template <typename Precision>
[[nodiscard]] double largest_link_error(Hop<Precision>& hop, const Model& model);

}  // namespace dslash
