// The part of a report that comes from the replay: efficiencies, the longest path, what would be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/advice_figures.hpp"

namespace penstock::analysis {

/// The efficiencies of POP (https://pop-coe.eu) for the host and of TALP for the GPUs. Each is a share, and
/// each parent is the product of its children.
struct EfficiencyFigures {
  double parallel = 1;       ///< load_balance × communication
  double load_balance = 1;   ///< mean computing time of the ranks divided by the largest
  double communication = 1;  ///< serialisation × transfer
  double serialisation = 1;  ///< what remains after ranks wait for each other, if messages were free
  double transfer = 1;       ///< what remains after the cost of messages themselves
};
struct GpuEfficiencyFigures {
  double parallel = 1;       ///< load_balance × communication × orchestration
  double load_balance = 1;   ///< mean kernel time divided by that of the busiest GPU
  double communication = 1;  ///< most kernel time divided by most time in kernels and copies
  double orchestration = 1;  ///< most time in kernels and copies divided by the time: the rest is idle
};

/// The counted time under changed conditions, from a run of the job's graph.
struct WhatIfFigures {
  std::string what;   ///< for machines
  std::string words;  ///< for people
  std::uint64_t total_ns = 0;
  std::optional<double> known_share =
      {};                 ///< share of the bytes with a changed speed for which the new speed is known
  bool is_asked = false;  ///< by the user, who sees it whatever it gains
};

/// What the user asks: kernels whose name matches take so much of their time.
struct KernelFactor {
  std::string pattern;                       ///< as matches_name() takes it
  double factor;                             ///< ≥ 0; 0 leaves them out, but not their launches
  std::optional<std::uint32_t> stream = {};  ///< of that stream alone, by its number
};

/// The longest chain of dependencies: shortening anything else shortens nothing.
struct PathFigures {
  std::uint64_t kernels_ns = 0;
  std::uint64_t launch_ns = 0;  ///< kernels that had been launched had not begun
  std::uint64_t host_code_ns = 0;
  std::uint64_t communication_ns = 0;
  std::uint64_t before_steps_ns = 0;  ///< other ranks had begun, but not yet the one on which it begins
  std::int32_t first_rank = -1;       ///< on which it begins; -1: it is empty
  std::vector<std::pair<std::string, std::uint64_t>> calls;   ///< of communication, by call site, largest
                                                              ///< first
  std::vector<std::pair<std::int32_t, std::uint64_t>> ranks;  ///< all of it, by rank, largest first
};

/// A change of the program, and how long the job takes with it: the ground of a piece of advice. Sums over
/// the counted ranks.
struct ChangeFigures {
  AdviceKind kind{};
  std::uint64_t total_ns = 0;  ///< of the job with this change alone
  std::uint64_t spread_ns =
      0;  ///< by which that may be off, as far as the change itself is not known exactly
  std::vector<std::string> calls = {};  ///< that are changed, for people, those with most time first; of host
                                        ///< code those before and behind it
  std::string kernel = {};              ///< that is concerned most; empty: none
  bool is_part = false;                 ///< of the kernel, only a part can be meant
  std::string range = {};               ///< the innermost NVTX range around it; empty: none
  std::int32_t rank = -1;               ///< the one that is changed; -1: all
  std::uint64_t times = 0;              ///< how often, on that rank or on all
  std::uint64_t time_ns = 0;            ///< of what is changed: of that rank, or the sum of all
  std::uint64_t others_ns = 0;          ///< the same of a usual rank
  const char* list = "";                ///< the list of the report that shows it; empty: none
  std::size_t row = 0;                  ///< in that list
};

struct ReplayFigures {
  std::uint64_t observed_ns = 0;  ///< from the first rank's first step to the last rank's last one
  std::uint64_t replayed_ns = 0;  ///< the same from the unchanged graph
  std::uint64_t edges_left_out = 0;
  EfficiencyFigures efficiency;
  std::optional<GpuEfficiencyFigures> gpu_efficiency;
  PathFigures path;
  std::vector<WhatIfFigures> what_if;
  std::vector<std::string> not_answered;  ///< what the user asked and no kernel is meant by, in words
  std::vector<ChangeFigures> changes;     ///< in no particular order
};

}  // namespace penstock::analysis
