// What the recorder noted of a run besides what it recorded, for those who compare runs.
#pragma once

#include <string>
#include <string_view>

namespace penstock::analysis {

/// Empty: not known.
struct RunFacts {
  std::string commit;        ///< of the program
  std::string batch_job;     ///< the batch system's number of the job
  std::string driver;        ///< the version of the GPU's driver, on the first rank's node
  std::string allocators;    ///< libraries that allocate GPU memory in pools: "CuPy, PyTorch"
  std::string no_gpu_power;  ///< why a rank has no samples of power and clocks
};

/// Returns the fact that a recording has under this name; null for one that no report has.
[[nodiscard]] inline std::string* fact_named(RunFacts& facts, std::string_view name) noexcept {
  return name == "commit"         ? &facts.commit
         : name == "batch_job"    ? &facts.batch_job
         : name == "driver"       ? &facts.driver
         : name == "allocators"   ? &facts.allocators
         : name == "no_gpu_power" ? &facts.no_gpu_power
                                  : nullptr;
}

}  // namespace penstock::analysis
