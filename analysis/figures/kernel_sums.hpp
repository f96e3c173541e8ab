// Adds up, by kernel of the application, how much communication it hid and how much was exposed after its
// end. Must not know causes.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/tables/sum_table.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: proportional to the distinct kernels and call sites.
class KernelSums {
 public:
  explicit KernelSums(const FigureContext& context) : strings_(context.strings) {}
  void add(const RankInput& rank);
  void merge(KernelSums&& part, const Renumbering& numbers);
  auto members() { return std::tie(sums_, exposed_after_); }
  /// Orders the figures by exposed time after the kernel, then by hidden time.
  void finish(Report& report, SiteNames& names);

 private:
  struct Sums {
    std::uint64_t launches = 0;
    std::uint64_t running_ns = 0;
    std::uint64_t hides_ns = 0;
    auto members() { return std::tie(launches, running_ns, hides_ns); }
    /// Returns true if a kernel was launched or continued running; otherwise the entry is unused.
    [[nodiscard]] bool is_of_kernel() const noexcept { return launches != 0 || running_ns != 0; }
  };
  struct After {
    std::uint32_t name;
    std::uint32_t site;
    [[nodiscard]] After renumbered(const Renumbering& numbers) const {
      return {numbers.strings[name], numbers.sites[site]};
    }
    friend bool operator==(const After&, const After&) = default;
  };
  struct HashAfter {
    std::uint64_t operator()(const After& key) const noexcept { return mixed(mixed(0, key.name), key.site); }
  };
  Sums& sums_of(std::uint32_t name);
  void add_kernels(const Timeline& timeline, NameIds& names);
  void add_exposed_after(const RankInput& rank);

  StringPool& strings_;
  std::vector<Sums> sums_;                    ///< by name; most entries are unused
  SumTable<After, HashAfter> exposed_after_;  ///< ns
};

}  // namespace penstock::analysis
