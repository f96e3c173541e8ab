// Tells the application's kernels from those of Penstock and NCCL.
#pragma once

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/id_table.hpp"

namespace penstock::analysis {

/// The rank's strings must outlive it. Thread: one at a time.
class KernelOwner {
 public:
  explicit KernelOwner(const Strings& strings) : strings_(strings) {}
  [[nodiscard]] bool is_the_application(const trace::DeviceActivity& kernel) {
    return kernel.own == 0 && !is_nccl(kernel);  // the recording marks Penstock's own
  }
  [[nodiscard]] bool is_nccl(const trace::DeviceActivity& kernel);

 private:
  const Strings& strings_;
  IdTable<bool> is_nccls_;  ///< by name
};

}  // namespace penstock::analysis
