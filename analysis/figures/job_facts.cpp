#include "analysis/figures/job_facts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::analysis {
namespace {

void append_once(std::vector<std::string>& all, std::string each) {
  if (!each.empty() && std::find(all.begin(), all.end(), each) == all.end()) {
    all.push_back(std::move(each));
  }
}

void take_if_unknown(std::string& fact, std::string value) {
  if (fact.empty()) {
    fact = std::move(value);
  }
}

}  // namespace

void JobFacts::add(const RankInput& rank) {
  const RankTrace& trace = rank.trace;
  simulated_gpu_ = simulated_gpu_ || trace.has(trace::feature::simulated);
  world_size_ = trace.header.world_size;
  if (program_.empty()) {
    program_ = trace.header.program;
    mpi_version_ = trace.header.mpi_version;
    began_realtime_ns_ = trace.header.begin_ns + trace.header.realtime_offset_ns;
    first_process_id_ = trace.header.process_id;
  }
  append_once(hosts_, trace.header.host_name);
  append_once(devices_, trace.header.device_name);
  for (const trace::Fact& each : trace.facts) {
    if (std::string* const fact = fact_named(facts_, trace.strings.at(each.name))) {
      take_if_unknown(*fact, trace.strings.at(each.value));
    }
  }
  flaws_.insert(flaws_.end(), trace.flaws.begin(), trace.flaws.end());
}

void JobFacts::merge(JobFacts&& part, const Renumbering&) {
  if (program_.empty()) {
    program_ = std::move(part.program_);
    mpi_version_ = std::move(part.mpi_version_);
    began_realtime_ns_ = part.began_realtime_ns_;
    first_process_id_ = part.first_process_id_;
  }
  for (std::string& each : part.hosts_) {
    append_once(hosts_, std::move(each));
  }
  for (std::string& each : part.devices_) {
    append_once(devices_, std::move(each));
  }
  world_size_ = std::max(world_size_, part.world_size_);  // 0 in a part without ranks
  simulated_gpu_ = simulated_gpu_ || part.simulated_gpu_;
  take_if_unknown(facts_.commit, std::move(part.facts_.commit));
  take_if_unknown(facts_.batch_job, std::move(part.facts_.batch_job));
  take_if_unknown(facts_.driver, std::move(part.facts_.driver));
  take_if_unknown(facts_.allocators, std::move(part.facts_.allocators));
  take_if_unknown(facts_.no_gpu_power, std::move(part.facts_.no_gpu_power));
  flaws_.insert(flaws_.end(), std::make_move_iterator(part.flaws_.begin()),
                std::make_move_iterator(part.flaws_.end()));
}

void JobFacts::finish(Report& report, SiteNames&) {
  report.program = std::move(program_);
  report.mpi_version = std::move(mpi_version_);
  report.began_realtime_ns = began_realtime_ns_;
  report.first_process_id = first_process_id_;
  report.hosts = std::move(hosts_);
  report.devices = std::move(devices_);
  report.world_size = world_size_;
  report.simulated_gpu = simulated_gpu_;
  report.facts = std::move(facts_);
  report.flaws = std::move(flaws_);
  report.measure = choice_.measure;
  report.why_not_exposed = std::move(choice_.why_not);
  report.one_clock = index_.host_count() <= 1;
  report.aligned_hosts = index_.clocks().aligned_hosts();
  report.host_clock_error_ns = index_.clocks().error_ns();
  report.unmatched_halves = index_.unmatched_halves();
}

}  // namespace penstock::analysis
