// Options, start and output, which all programs share.
#pragma once

#include <cuda_runtime_api.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "examples/gmh/gmh.h"
#include "examples/support/exchange.hpp"
#include "examples/support/median.hpp"

namespace gmh_programs {

struct Common {
  int gpus = 1;  ///< threads of each process
  example::Exchange exchange = example::Exchange::device;
  bool verify = false;
  bool json = false;
};

/// Adds --gpus, --exchange, --verify and --json.
void add_common(CLI::App& app, Common& common);

/// What counts are checked by; CLI::PositiveNumber would name the largest number there is, all digits of it.
[[nodiscard]] inline CLI::Range at_least_one() {
  return {1, 1'000'000'000};
}
/// Adds --sizes, in bytes as in 8,64K,1M.
void add_sizes(CLI::App& app, std::vector<std::size_t>& sizes);

/// Throws GMH's message unless `code` is GMH_OK. The exception ends all ranks.
void require(int code);
/// The same for CUDA. `what` is the failed action.
void require_cuda(cudaError_t error, const char* what);

/// Returns the median of five measurements.
template <typename Measure>
double median_of(Measure measure) {
  std::vector<double> values(5);
  for (double& each : values) each = measure();
  return example::median_of(values);
}

using Body = std::function<void(gmh_tasklist_t)>;

/// Reads the command line, runs `body` on each thread of GMH, then `sum_up` on each process and `finish` on
/// MPI rank 0, which returns whether all results are right. Returns the program's exit code. `complaint` is
/// that of examples/support/command_line.hpp.
int run(CLI::App& app, const Common& common, int argc, char** argv, const Body& body,
        const std::function<bool()>& finish, const std::function<std::string()>& complaint = {},
        const std::function<void()>& sum_up = {});

using Json = nlohmann::ordered_json;

/// Returns the parameters that all results show.
[[nodiscard]] Json parameters_of(const Common& common);
/// Prints rows of named figures as a table, or as one JSON object with the members of `about`. A null was not
/// measured. With --verify it also prints `is_right`, and what was found to be so. Returns `is_right`.
bool print_rows(const Common& common, const Json& about, const std::vector<Json>& rows, bool is_right,
                const char* verified = "all that was sent has arrived");

}  // namespace gmh_programs
