// The windows that Penstock carries out itself, by the handle of the MPI library. Knows nothing else of them.
#pragma once

#include "interpose/calls/window_table.hpp"

namespace penstock::interpose {

class Window;

/// All other windows are the MPI library's.
[[nodiscard]] WindowTable<Window>& own_windows() noexcept;

}  // namespace penstock::interpose
