// The exit code by which a test says that it cannot run here. CTest counts it as skipped (SKIP_RETURN_CODE),
// and nothing else: what a test prints decides nothing.
#pragma once

namespace penstock::test_support {

inline constexpr int skipped = 77;

}  // namespace penstock::test_support
