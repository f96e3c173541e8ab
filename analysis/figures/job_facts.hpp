// What ran, where and when, and how well its recordings fit together. Must not know times.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/recording/flaw.hpp"

namespace penstock::analysis {

class JobFacts {
 public:
  explicit JobFacts(const FigureContext& context) : index_(context.index), choice_(context.choice) {}
  void add(const RankInput& rank);
  void merge(JobFacts&& part, const Renumbering& numbers);
  auto members() {
    return std::tie(program_, mpi_version_, began_realtime_ns_, first_process_id_, hosts_, devices_,
                    world_size_, simulated_gpu_, facts_.commit, facts_.batch_job, facts_.driver,
                    facts_.allocators, facts_.no_gpu_power, flaws_);
  }
  void finish(Report& report, SiteNames& names);

 private:
  const MessageIndex& index_;
  MeasureChoice choice_;
  std::string program_;  ///< of the first rank, as all that follows it
  std::string mpi_version_;
  std::uint64_t began_realtime_ns_ = 0;
  std::int64_t first_process_id_ = 0;
  std::vector<std::string> hosts_;  ///< each once, in the ranks' order
  std::vector<std::string> devices_;
  std::int32_t world_size_ = 0;
  bool simulated_gpu_ = false;
  RunFacts facts_;  ///< each of the first rank that has it
  std::vector<Flaw> flaws_;
};

}  // namespace penstock::analysis
