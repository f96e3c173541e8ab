// The part of a report about collective calls, and about ranks that come late to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// Collective calls of one kind. Sums over the counted ranks.
struct CollectiveFigures {
  std::string mpi_function;
  std::uint64_t size_limit_bytes = 0;  ///< upper limit of a rank's bytes; 0: above all limits
  trace::TransportKind transport = trace::TransportKind::none;  ///< none: this rank moved nothing itself
  std::string reason;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t waiting_ns = 0;       ///< until the last rank (or the root) arrived, hidden or not
  std::uint64_t moving_ns = 0;        ///< from then on
  std::optional<double> median_gbps;  ///< a rank's bytes divided by its moving time
  std::uint64_t waiting_within_error_ns = 0;
};

/// A rank that others waited for at collective calls, and what it did meanwhile.
struct LateRankFigures {
  std::int32_t rank = -1;
  std::string mpi_function;
  std::string at;                   ///< its call site, for people
  std::uint64_t times = 0;          ///< how often it arrived last
  std::uint64_t late_ns = 0;        ///< sum of the times from the first rank's arrival to its own
  std::uint64_t in_kernels_ns = 0;  ///< the part in which its GPU computed
  std::uint64_t in_mpi_ns = 0;      ///< the part in which it was in other MPI calls and its GPU did not
                                    ///< compute
  std::string main_kernel;          ///< the kernel that ran for most of it; empty: none
  std::uint64_t within_error_ns = 0;
};

/// A rank that others waited for in MPI, at a message, a window or a collective, and what it did meanwhile.
struct LatecomerFigures {
  std::int32_t rank = -1;
  std::string mpi_function;   ///< with which it came late
  std::string at;             ///< and its call site, for people
  std::uint64_t times = 0;    ///< times in which several ranks wait for it count once
  std::uint64_t late_ns = 0;  ///< the sum of the next five
  std::uint64_t in_kernels_ns = 0;
  std::uint64_t in_mpi_ns = 0;        ///< in other calls, and its GPU did not compute
  std::uint64_t in_copies_ns = 0;     ///< copies and memsets, outside of both
  std::uint64_t in_launches_ns = 0;   ///< a kernel had been launched and had not begun, and none of these
  std::uint64_t in_host_code_ns = 0;  ///< all else
  std::uint64_t longest_ns = 0;
  std::uint64_t long_times = 0;  ///< that last half of the longest or more
  std::uint64_t long_ns = 0;
  std::vector<std::uint64_t> long_steps = {};  ///< numbers of their steps, from 0; the first few
  std::string main_kernel = {};                ///< that ran for most of it; empty: none
  std::string host_code = {};                  ///< where most of its host code is; empty: none
  std::uint64_t within_error_ns = 0;
};

}  // namespace penstock::analysis
