// The compiled kernels that the library carries, in the form in which the driver takes them. Knows no driver.
#pragma once

namespace penstock::transports::kernels {

/// For cuLibraryLoadData: a fat binary, or the simulated GPU's table. Lives as long as the process.
[[nodiscard]] const void* image() noexcept;

}  // namespace penstock::transports::kernels
