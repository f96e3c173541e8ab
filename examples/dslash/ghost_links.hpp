// Links that a rank needs from those behind it, in time and along z: sent once.
#pragma once

#include <cstddef>
#include <functional>

#include "examples/dslash/team.hpp"
#include "examples/dslash/views.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

/// Sends device memory to the rank ahead, in time or along z, and receives as much from the rank behind.
using LinkExchange = std::function<void(Face face, std::byte* sent, std::byte* received, std::size_t bytes)>;

/// Both arguments must outlive the result.
[[nodiscard]] LinkExchange exchange_by_mpi(const Team& team, const example::Stream& stream, bool is_staged);

/// The last slice's links in time go into the padding of the rank ahead, the last plane's links along z into
/// that of the rank ahead along z. Collective.
template <typename Precision>
void send_ghost_links(const Slab& slab, const example::Stream& stream, const GaugeView<Precision>& gauge,
                      const LinkExchange& exchange);

}  // namespace dslash
