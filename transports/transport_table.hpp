// The instances of all transports, one each, for the chooser's table. Does not know how they work.
#pragma once

#include "transports/transport.hpp"

namespace penstock::transports {

[[nodiscard]] Transport& local_transport() noexcept;    ///< both sides in this process
[[nodiscard]] Transport& peer_transport() noexcept;     ///< CUDA IPC
[[nodiscard]] Transport& relayed_transport() noexcept;  ///< CUDA IPC with a ring on the sender's device
[[nodiscard]] Transport&
pushed_transport() noexcept;  ///< CUDA IPC, by the sender's copy engine from pinned memory
[[nodiscard]] Transport& staged_transport() noexcept;  ///< shared host memory

}  // namespace penstock::transports
