#include "analysis/figures/gpu_power_sums.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace penstock::analysis {
namespace {

/// Of the counted part, the share for which energy must be known.
constexpr double least_covered_share = 0.95;

using Samples = std::vector<trace::GpuSample>;

std::uint64_t time_of(const trace::GpuSample& sample) {
  return sample.begin_ns + (sample.end_ns - sample.begin_ns) / 2;
}

/// Returns the energy used from the first sample until each one, mJ: by the GPU's counter or, if it has none,
/// from its power. Empty: neither is known.
std::vector<double> energy_until(const Samples& samples) {
  std::vector<double> until{0};
  const bool has_counter = std::all_of(samples.begin(), samples.end(),
                                       [](const trace::GpuSample& each) { return each.energy_mj != 0; });
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const trace::GpuSample& before = samples[i - 1];
    const trace::GpuSample& now = samples[i];
    if (has_counter) {
      if (now.energy_mj < before.energy_mj)
        return {};  // the driver was loaded anew, or the bytes are damaged
      until.push_back(static_cast<double>(now.energy_mj - samples.front().energy_mj));
    } else {
      if (now.power_mw == 0 || before.power_mw == 0) return {};
      const double mean_mw = (static_cast<double>(before.power_mw) + static_cast<double>(now.power_mw)) / 2;
      until.push_back(until.back() + mean_mw * static_cast<double>(time_of(now) - time_of(before)) * 1e-9);
    }
  }
  return until;
}

/// Returns the energy until a moment, by a line between the samples around it.
double energy_at(const Samples& samples, const std::vector<double>& until, std::uint64_t time_ns) {
  const auto after = std::find_if(samples.begin(), samples.end(),
                                  [time_ns](const auto& each) { return time_of(each) > time_ns; });
  if (after == samples.begin()) return until.front();
  if (after == samples.end()) return until.back();
  const auto i = static_cast<std::size_t>(after - samples.begin());
  const double part = static_cast<double>(time_ns - time_of(samples[i - 1])) /
                      static_cast<double>(time_of(samples[i]) - time_of(samples[i - 1]));
  return until[i - 1] + part * (until[i] - until[i - 1]);
}

/// Returns nothing if a part of the time, or a sample, is missing.
std::optional<std::uint64_t> energy_in(const Samples& samples, Interval window, std::uint64_t inside) {
  if (inside < fewest_samples_for_energy) return {};
  const std::uint64_t begin_ns = std::max(window.begin_ns, time_of(samples.front()));
  const std::uint64_t end_ns = std::min(window.end_ns, time_of(samples.back()));
  const std::vector<double> until = energy_until(samples);
  if (until.empty() || end_ns <= begin_ns ||
      static_cast<double>(end_ns - begin_ns) <
          least_covered_share * static_cast<double>(window.end_ns - window.begin_ns)) {
    return {};
  }
  constexpr double most_mj = 1e18;  // of damaged recordings
  return static_cast<std::uint64_t>(
      std::min(most_mj, energy_at(samples, until, end_ns) - energy_at(samples, until, begin_ns)));
}

/// The mean of what is known.
class KnownMean {
 public:
  void add(std::uint64_t value) {
    sum_ += value;
    count_ += value != 0 ? 1 : 0;
  }
  [[nodiscard]] std::uint64_t value() const { return count_ == 0 ? 0 : sum_ / count_; }

 private:
  std::uint64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

void add_samples(GpuPowerFigures& gpu, const Samples& samples, Interval window) {
  KnownMean power;
  KnownMean clock;
  for (const trace::GpuSample& each : samples) {
    const std::uint64_t time_ns = time_of(each);
    if (time_ns < window.begin_ns || time_ns >= window.end_ns) continue;
    ++gpu.samples;
    power.add(each.power_mw);
    clock.add(each.sm_mhz);
    gpu.most_power_mw = std::max<std::uint64_t>(gpu.most_power_mw, each.power_mw);
    if (each.sm_mhz != 0 && (gpu.least_sm_mhz == 0 || each.sm_mhz < gpu.least_sm_mhz)) {
      gpu.least_sm_mhz = each.sm_mhz;
    }
    gpu.most_sm_mhz = std::max<std::uint64_t>(gpu.most_sm_mhz, each.most_sm_mhz);
    gpu.hottest_c = std::max<std::uint64_t>(gpu.hottest_c, each.temperature_c);
    const auto has = [&](std::uint64_t reasons) { return (each.throttle_reasons & reasons) != 0; };
    const bool by_power = has(trace::throttle::power_cap | trace::throttle::power_brake);
    const bool by_heat = has(trace::throttle::heat | trace::throttle::heat_by_hardware);
    gpu.throttled_by_power += by_power ? 1 : 0;
    gpu.throttled_by_heat += by_heat ? 1 : 0;
    gpu.throttled += by_power || by_heat || has(trace::throttle::hardware) ? 1 : 0;
  }
  gpu.mean_power_mw = power.value();
  gpu.mean_sm_mhz = clock.value();
  gpu.energy_mj = energy_in(samples, window, gpu.samples);
}

}  // namespace

void GpuPowerSums::add(const RankInput& rank) {
  if (!rank.is_counted) return;
  std::map<std::uint32_t, Samples> samples_of;
  for (const trace::GpuSample& each : rank.trace.gpu_samples) {
    samples_of[each.gpu].push_back(each);
  }
  for (auto& [gpu, samples] : samples_of) {
    std::sort(samples.begin(), samples.end(),
              [](const auto& left, const auto& right) { return time_of(left) < time_of(right); });
    GpuPowerFigures& figures = gpus_.emplace_back();
    figures.host = rank.trace.header.host_name;
    figures.bus_id = rank.trace.strings.at(gpu);
    figures.index = samples.front().index;
    figures.rank = rank.trace.header.world_rank;
    const Interval window = rank.window.window;
    figures.counted_ns = window.end_ns - window.begin_ns;
    add_samples(figures, samples, window);
  }
}

void GpuPowerSums::finish(Report& report, SiteNames&) {
  std::set<std::pair<std::string, std::string>> known;
  for (GpuPowerFigures& each : gpus_) {
    if (known.emplace(each.host, each.bus_id).second) {
      report.gpu_power.push_back(std::move(each));
    }
  }
}

}  // namespace penstock::analysis
