// The part of a report about the application's kernels.
#pragma once

#include <cstdint>
#include <string>

namespace penstock::analysis {

/// A kernel of the application, and the communication during it. Sums over the counted ranks.
struct KernelFigures {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t running_ns = 0;        ///< its share of K; if several kernels cover a time, it counts for the
                                       ///< first one
  std::uint64_t hides_ns = 0;          ///< the part of it with communication in progress
  std::uint64_t exposed_after_ns = 0;  ///< exposed communication between its end and the next kernel's begin
  std::string exposed_at;              ///< the call site of most of that, for people
};

}  // namespace penstock::analysis
