// The part of a report about the power and the clocks of the GPUs, and its words, which text, JSON and page
// share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace penstock::analysis {

struct Report;

/// The driver renews its figures some ten times a second: fewer samples than these tell no energy.
inline constexpr std::uint64_t fewest_samples_for_energy = 10;

/// A GPU, in the counted part of the first rank that used it.
struct GpuPowerFigures {
  std::string host;
  std::string bus_id;       ///< of PCI: names the GPU on its host
  std::uint32_t index = 0;  ///< in nvidia-smi
  std::int32_t rank = 0;
  std::uint64_t counted_ns = 0;            ///< the counted part of that rank
  std::uint64_t samples = 0;               ///< in it, as all that follows
  std::optional<std::uint64_t> energy_mj;  ///< none: not known for nearly all of the part
  std::uint64_t mean_power_mw = 0;         ///< 0: not known, as all that follows but the counts
  std::uint64_t most_power_mw = 0;
  std::uint64_t mean_sm_mhz = 0;
  std::uint64_t least_sm_mhz = 0;
  std::uint64_t most_sm_mhz = 0;  ///< that it can have
  std::uint64_t hottest_c = 0;
  std::uint64_t throttled_by_power = 0;  ///< samples
  std::uint64_t throttled_by_heat = 0;
  std::uint64_t throttled = 0;  ///< for any reason

  template <typename Archive>
  void exchange(Archive& archive) {
    archive(host, bus_id, index, rank, counted_ns, samples, energy_mj, mean_power_mw, most_power_mw,
            mean_sm_mhz, least_sm_mhz, most_sm_mhz, hottest_c, throttled_by_power, throttled_by_heat,
            throttled);
  }
};

/// Returns whether it was throttled often enough to be named.
[[nodiscard]] bool is_throttled(const GpuPowerFigures& gpu) noexcept;

/// Returns what all GPUs used, mJ; none: that of one is not known, or there is none.
[[nodiscard]] std::optional<std::uint64_t> energy_of(const std::vector<GpuPowerFigures>& gpus) noexcept;

/// Returns the same of one step; none also without steps.
[[nodiscard]] std::optional<double> joules_per_step(const Report& report) noexcept;

/// Returns a sentence for each throttled GPU, that which was so most often first.
[[nodiscard]] std::vector<std::string> throttled_texts(const Report& report);

/// Returns what the GPUs used, in one or two sentences, or why that is not known; empty: no GPU was used, or
/// the recording is older.
[[nodiscard]] std::string energy_text(const Report& report);

}  // namespace penstock::analysis
