// What the recorder noted of a run besides what it recorded, for those who compare runs.
#pragma once

#include <string>

namespace penstock::analysis {

/// Empty: not known.
struct RunFacts {
  std::string commit;        ///< of the program
  std::string batch_job;     ///< the batch system's number of the job
  std::string driver;        ///< the version of the GPU's driver, on the first rank's node
  std::string no_gpu_power;  ///< why a rank has no samples of power and clocks
};

}  // namespace penstock::analysis
