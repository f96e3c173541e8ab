// The names under which conditions ask for the replay's efficiencies.
#pragma once

#include <string_view>

#include "analysis/report/replay_figures.hpp"

namespace penstock::analysis {

/// `Figures`: EfficiencyFigures or GpuEfficiencyFigures.
template <typename Figures>
struct EfficiencyName {
  std::string_view name;
  double Figures::*figure;
};

inline constexpr EfficiencyName<EfficiencyFigures> efficiencies[] = {
    {"parallel_efficiency", &EfficiencyFigures::parallel},
    {"load_balance", &EfficiencyFigures::load_balance},
    {"communication_efficiency", &EfficiencyFigures::communication},
    {"serialisation", &EfficiencyFigures::serialisation},
    {"transfer", &EfficiencyFigures::transfer}};

inline constexpr EfficiencyName<GpuEfficiencyFigures> gpu_efficiencies[] = {
    {"gpu_parallel_efficiency", &GpuEfficiencyFigures::parallel},
    {"gpu_load_balance", &GpuEfficiencyFigures::load_balance},
    {"gpu_communication", &GpuEfficiencyFigures::communication},
    {"gpu_orchestration", &GpuEfficiencyFigures::orchestration}};

}  // namespace penstock::analysis
