// Adds up, by kernel of the application, how much communication ran behind it and how much was exposed when
// it had ended. Knows no causes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/causes/timeline.hpp"
#include "analysis/recording/name_ids.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/string_pool.hpp"
#include "analysis/tables/sum_table.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: by the number of distinct kernels and call sites.
class KernelSums {
 public:
  explicit KernelSums(StringPool& strings) : strings_(strings) {}
  /// `site_of_call`: by index into the rank's calls. `names`: of the rank.
  void add(const Timeline& timeline, std::span<const std::uint32_t> site_of_call, NameIds& names);
  /// `strings`, `sites`: the numbers here of those there.
  void merge(const KernelSums& part, std::span<const std::uint32_t> strings,
             std::span<const std::uint32_t> sites);
  /// `place_of_site`: for people. By what was exposed after them, then by what they hide.
  [[nodiscard]] std::vector<KernelFigures> finish(
      const std::function<std::string(std::uint32_t)>& place_of_site) const;
  /// See archive.hpp.
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(sums_, exposed_after_);
  }

 private:
  struct Sums {
    std::uint64_t launches = 0;
    std::uint64_t running_ns = 0;
    std::uint64_t hides_ns = 0;
    /// Else nothing was added: a kernel was launched, or ran on from before.
    [[nodiscard]] bool is_of_kernel() const noexcept { return launches != 0 || running_ns != 0; }
  };
  struct After {
    std::uint32_t name;
    std::uint32_t site;
    friend bool operator==(const After&, const After&) = default;
  };
  struct HashAfter {
    std::uint64_t operator()(const After& key) const noexcept { return mixed(mixed(0, key.name), key.site); }
  };
  Sums& sums_of(std::uint32_t name);

  StringPool& strings_;
  std::vector<Sums> sums_;                    ///< by name; most are of no kernel
  SumTable<After, HashAfter> exposed_after_;  ///< ns
};

}  // namespace penstock::analysis
