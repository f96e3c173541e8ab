#include "analysis/report/gpu_power_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/report/report.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

/// A few samples may be chance, or the moment after a pause.
constexpr std::uint64_t fewest_throttled_samples = 3;
constexpr double least_throttled_share = 0.1;

std::string joules_text(double joules) {
  const auto [number, unit] = joules < 1     ? std::pair(joules * 1e3, "mJ")
                              : joules < 1e3 ? std::pair(joules, "J")
                              : joules < 1e6 ? std::pair(joules * 1e-3, "kJ")
                                             : std::pair(joules * 1e-6, "MJ");
  return fmt::format("{:.{}f} {}", number, number < 10 ? 2 : number < 100 ? 1 : 0, unit);
}

std::string watts_text(double milliwatts) {
  return fmt::format("{:.0f} W", milliwatts * 1e-3);
}

const char* reason_of(const GpuPowerFigures& gpu) {
  if (gpu.throttled_by_power == 0 && gpu.throttled_by_heat == 0) {
    return "its hardware, for another reason than power or heat";
  }
  return gpu.throttled_by_power >= gpu.throttled_by_heat ? "its power limit" : "heat";
}

std::string throttled_text(const Report& report, const GpuPowerFigures& gpu) {
  std::string text = fmt::format("GPU {}{} (rank {}) was throttled by {} for {} of the {}", gpu.index,
                                 report.hosts.size() > 1 ? " of " + gpu.host : "", gpu.rank, reason_of(gpu),
                                 percent_text(share_of(gpu.throttled, gpu.samples)), whole_of(report));
  if (gpu.mean_sm_mhz != 0 && gpu.most_sm_mhz != 0) {
    text += fmt::format(": {} MHz on average, of {} at most", count_text(gpu.mean_sm_mhz),
                        count_text(gpu.most_sm_mhz));
  }
  if (gpu.throttled_by_heat != 0 && gpu.hottest_c != 0) {
    text += fmt::format("; {} °C", gpu.hottest_c);
  }
  return text + ".";
}

}  // namespace

bool is_throttled(const GpuPowerFigures& gpu) noexcept {
  return gpu.throttled >= fewest_throttled_samples &&
         share_of(gpu.throttled, gpu.samples) >= least_throttled_share;
}

std::optional<std::uint64_t> energy_of(const std::vector<GpuPowerFigures>& gpus) noexcept {
  std::optional<std::uint64_t> sum_mj;
  for (const GpuPowerFigures& each : gpus) {
    if (!each.energy_mj) {
      return {};
    }
    sum_mj = sum_mj.value_or(0) + *each.energy_mj;
  }
  return sum_mj;
}

std::optional<double> joules_per_step(const Report& report) noexcept {
  const std::optional<std::uint64_t> energy_mj = energy_of(report.gpu_power);
  if (!energy_mj || !has_steps(report)) {
    return {};
  }
  return static_cast<double>(*energy_mj) * 1e-3 / static_cast<double>(report.steps->each.size());
}

std::vector<std::string> throttled_texts(const Report& report) {
  std::vector<const GpuPowerFigures*> throttled;
  for (const GpuPowerFigures& each : report.gpu_power) {
    if (is_throttled(each)) {
      throttled.push_back(&each);
    }
  }
  std::stable_sort(throttled.begin(), throttled.end(), [](const auto* left, const auto* right) {
    return share_of(left->throttled, left->samples) > share_of(right->throttled, right->samples);
  });
  std::vector<std::string> texts;
  for (const GpuPowerFigures* const each : throttled) {
    texts.push_back(throttled_text(report, *each));
  }
  return texts;
}

std::string energy_text(const Report& report) {
  const std::vector<GpuPowerFigures>& gpus = report.gpu_power;
  if (gpus.empty()) {
    return report.facts.no_gpu_power.empty()
               ? ""
               : fmt::format("Power and clocks of the GPUs were not recorded: {}.",
                             report.facts.no_gpu_power);
  }
  const std::string who = gpus.size() == 1 ? "The GPU" : fmt::format("The {} GPUs", gpus.size());
  const char* const whole = whole_of(report);
  std::uint64_t most_mw = 0;
  std::uint64_t sum_mw = 0;
  std::uint64_t hottest_c = 0;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const GpuPowerFigures& each : gpus) {
    most_mw = std::max(most_mw, each.most_power_mw);
    sum_mw += each.mean_power_mw;
    hottest_c = std::max(hottest_c, each.hottest_c);
    fewest = std::min(fewest, each.samples);
  }
  const std::optional<std::uint64_t> energy_mj = energy_of(gpus);
  if (!energy_mj) {
    return fewest < fewest_samples_for_energy
               ? fmt::format(
                     "The energy of the {} is not known: it takes {} samples of a GPU's power, and there {} "
                     "{}.",
                     whole, fewest_samples_for_energy, fewest == 1 ? "is" : "are", fewest)
               : fmt::format("The energy of the {} is not known: power was not sampled all the time.", whole);
  }
  std::string text =
      fmt::format("{} used {} in the {}", who, joules_text(static_cast<double>(*energy_mj) * 1e-3), whole);
  if (const std::optional<double> each_step = joules_per_step(report)) {
    text += fmt::format(", {} a step", joules_text(*each_step));
  }
  if (most_mw != 0) {
    text += fmt::format(": {} on average{}, {} at most",
                        watts_text(static_cast<double>(sum_mw) / static_cast<double>(gpus.size())),
                        gpus.size() == 1 ? "" : " each", watts_text(static_cast<double>(most_mw)));
  }
  if (hottest_c != 0) {
    text += fmt::format("; the hottest had {} °C", hottest_c);
  }
  return text + ".";
}

}  // namespace penstock::analysis
