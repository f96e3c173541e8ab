// Links that a rank needs from those behind it, in time and along z: sent once.
#pragma once

#include "examples/dslash/team.hpp"
#include "examples/dslash/views.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

/// The last slice's links in time go into the padding of the rank ahead, the last plane's links along z into
/// that of the rank ahead along z. Collective.
template <typename Precision>
void send_ghost_links(const Team& team, const example::Stream& stream, const GaugeView<Precision>& gauge,
                      bool is_staged);

}  // namespace dslash
