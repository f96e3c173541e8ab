// The list of the report's figures: a new one is its file and its line here.
#pragma once

#include "analysis/figures/breakdowns.hpp"
#include "analysis/figures/collective_sums.hpp"
#include "analysis/figures/efficiency_over_time.hpp"
#include "analysis/figures/gap_sums.hpp"
#include "analysis/figures/gpu_power_sums.hpp"
#include "analysis/figures/hand_staging.hpp"
#include "analysis/figures/job_facts.hpp"
#include "analysis/figures/kernel_sums.hpp"
#include "analysis/figures/late_receives.hpp"
#include "analysis/figures/latecomers.hpp"
#include "analysis/figures/longest_waits.hpp"
#include "analysis/figures/message_matrix.hpp"
#include "analysis/figures/nccl_sums.hpp"
#include "analysis/figures/network_sums.hpp"
#include "analysis/figures/notices.hpp"
#include "analysis/figures/part_sums.hpp"
#include "analysis/figures/phase_sums.hpp"
#include "analysis/figures/placements.hpp"
#include "analysis/figures/rank_sums.hpp"
#include "analysis/figures/replay_figure.hpp"
#include "analysis/figures/step_sums.hpp"
#include "analysis/figures/thread_sums.hpp"
#include "analysis/figures/transport_sums.hpp"
#include "analysis/pipeline/figure_list.hpp"

namespace penstock::analysis {

/// In the order in which they are finished: one may use what those before it have put into the report.
using AllFigures = FigureList<JobFacts,            //
                              RankSums,            //
                              ThreadSums,          // adds to the ranks
                              Breakdowns,          // adds flaws to the job's
                              GapSums,             //
                              StepSums,            //
                              EfficiencyOverTime,  // adds to the steps
                              PartSums,            // has the ranks' and the steps' causes
                              PhaseSums,           //
                              LongestWaits,        //
                              TransportSums,       //
                              MessageMatrix,       // compares with the transports' speeds
                              CollectiveSums,      //
                              Latecomers,          //
                              LateReceives,        //
                              HandStaging,         //
                              KernelSums,          //
                              NcclSums,            //
                              Placements,          //
                              GpuPowerSums,        //
                              NetworkSums,         //
                              Notices,             //
                              ReplayFigure>;       // of the counted ranks, with the transports' speeds

}  // namespace penstock::analysis
