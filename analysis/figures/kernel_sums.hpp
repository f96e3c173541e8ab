// Adds up, by kernel of the application, how much communication it hid and how much was exposed after its
// end. Must not know causes.
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

/// Thread: one at a time. Memory: proportional to the distinct kernels and call sites.
class KernelSums {
 public:
  explicit KernelSums(StringPool& strings) : strings_(strings) {}
  /// `site_of_call`: by index into the rank's calls. `names`: of the rank.
  void add(const Timeline& timeline, std::span<const std::uint32_t> site_of_call, NameIds& names);
  /// `strings`, `sites`: map the numbers of `part` to this object's.
  void merge(const KernelSums& part, std::span<const std::uint32_t> strings,
             std::span<const std::uint32_t> sites);
  /// Returns the figures by exposed time after the kernel, then by hidden time. `place_of_site`: formats a
  /// site for people.
  [[nodiscard]] std::vector<KernelFigures> finish(
      const std::function<std::string(std::uint32_t)>& place_of_site) const;
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(sums_, exposed_after_);
  }

 private:
  struct Sums {
    std::uint64_t launches = 0;
    std::uint64_t running_ns = 0;
    std::uint64_t hides_ns = 0;
    /// Returns true if a kernel was launched or continued running; otherwise the entry is unused.
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
  std::vector<Sums> sums_;                    ///< by name; most entries are unused
  SumTable<After, HashAfter> exposed_after_;  ///< ns
};

}  // namespace penstock::analysis
