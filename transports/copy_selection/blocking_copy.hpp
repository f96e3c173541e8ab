// Blocking copies between any view, also a scattered one, and plain host memory, for calls that are staged
// as a whole (collectives and everything without a transport of its own), and between a view and packed bytes
// on one device. They wait for the application's earlier work on the legacy stream. Knows no transport.
#pragma once

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

[[nodiscard]] Status download(void* host, const BufferView& source) noexcept;
[[nodiscard]] Status upload(const BufferView& destination, const void* host) noexcept;

/// Copy between a view that is not scattered and its bytes in one piece at `packed`. Both are memory of one
/// context, and neither is managed.
[[nodiscard]] Status pack(void* packed, const BufferView& source) noexcept;
[[nodiscard]] Status unpack(const BufferView& destination, const void* packed) noexcept;

}  // namespace penstock::transports
