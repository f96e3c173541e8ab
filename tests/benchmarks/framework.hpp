// Google Benchmark as the programs here start it: its options, and what a result says of the run besides its
// figures: date, GPU, driver and commit as a caller knows them, and the Penstock settings in the environment.
// Knows no benchmark.
#pragma once

#include <string>
#include <vector>

namespace penstock::benchmarks {

/// `options` are those of the command line that the program itself does not know. The members of the JSON
/// object in `facts_path` (none if empty) and every PENSTOCK_* variable become the result's context. False,
/// after a line that says why, if an option is unknown or the file cannot be read. Before the first
/// benchmark.
[[nodiscard]] bool start_framework(std::vector<std::string> options, const std::string& facts_path);

}  // namespace penstock::benchmarks
