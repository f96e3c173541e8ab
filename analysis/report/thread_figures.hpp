// The part of a report about the threads of a rank, where several communicate.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/causes/cause.hpp"

namespace penstock::analysis {

/// An NVTX range of one thread by name. Nested phases each count the time within them.
struct ThreadPhaseFigures {
  std::string name;
  std::uint64_t total_ns = 0;
  std::uint64_t counted_ns = 0;      ///< of the thread
  std::uint64_t upper_bound_ns = 0;  ///< C \ K of the thread in it
  auto members() { return std::tie(name, total_ns, counted_ns, upper_bound_ns); }
};

/// As RankFigures; `thread_timelines.hpp` has what H, R and K are of a thread. Threads may wait at the same
/// time, so that their times do not add up to their rank's.
struct ThreadFigures {
  std::uint32_t number = 0;        ///< in the order in which the rank's threads began to communicate
  std::string name;                ///< empty: it has none
  std::vector<std::uint8_t> gpus;  ///< whose kernels are K; empty: those of all GPUs are
  std::uint64_t kernels_ns = 0;
  std::uint64_t host_ns = 0;
  std::uint64_t in_flight_ns = 0;
  std::uint64_t communication_ns = 0;
  std::uint64_t exposed_ns = 0;
  std::uint64_t upper_bound_ns = 0;
  std::uint64_t hidden_ns = 0;
  std::uint64_t counted_ns = 0;
  TimeByCause by_cause{};  ///< sums to counted_ns
  TimeByCause within_error{};
  std::vector<ThreadPhaseFigures> phases;  ///< by upper_bound_ns
  auto members() {
    return std::tie(number, name, gpus, kernels_ns, host_ns, in_flight_ns, communication_ns, exposed_ns,
                    upper_bound_ns, hidden_ns, counted_ns, by_cause, within_error, phases);
  }
};

/// Returns the name of one of a rank's threads for people: its number where its name is not its alone.
[[nodiscard]] std::string label_of(const ThreadFigures& thread, const std::vector<ThreadFigures>& of_rank);

}  // namespace penstock::analysis
