// Ends a program that is stuck, saying where: each rank prints its last note and a backtrace when it has made
// no progress for a while, before CTest's own time limit would end the test without a word. Knows no MPI.
#pragma once

namespace penstock::test_support {

/// Starts to watch the process: when it crashes, it says where; after `seconds` without progress() it prints
/// and exits with `stuck_exit_code`. All ranks should use the same limit, so that all of them speak. Thread:
/// main.
void watch(int rank, unsigned seconds);

/// The rank got somewhere: notes where (printf style, kept short) and starts the time anew. Thread: main.
[[gnu::format(printf, 1, 2)]] void progress(const char* format, ...);

inline constexpr int stuck_exit_code = 86;

}  // namespace penstock::test_support
