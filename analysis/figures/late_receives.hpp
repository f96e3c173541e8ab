// Finds receives that were posted after a kernel although their message had been posted before it: if posted
// earlier, the message would have moved while the kernel ran. Must not know how call sites are named.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/causes/rank_window.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/name_ids.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// Receives count for the call site that posts them. Thread: one at a time. Memory: proportional to these
/// sites and to kernels.
class LateReceives {
 public:
  /// Returns the site of a return address and a function's string of the rank.
  using SiteOf = std::function<std::uint32_t(std::uint64_t, std::uint32_t)>;

  LateReceives(const MessageIndex& index, StringPool& strings) : index_(index), strings_(strings) {}
  /// Adds a call in which `halves` complete and `moving_ns` are exposed while data moves. The receive that
  /// completes last stands for all: the others do not lengthen the call. `names`: of the rank.
  void add(const RankWindow& window, NameIds& names, std::span<const std::uint32_t> halves,
           std::uint64_t moving_ns, const SiteOf& site_of);
  /// `strings`, `sites`: map the numbers of `part` to this object's.
  void merge(const LateReceives& part, std::span<const std::uint32_t> strings,
             std::span<const std::uint32_t> sites);
  /// Returns the figures by what would be hidden, largest first. `call_of_site`: formats function and place
  /// for people.
  [[nodiscard]] std::vector<LateReceiveFigures> finish(
      const std::function<std::string(std::uint32_t)>& call_of_site) const;
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(sums_);
  }

 private:
  struct Sums {
    std::uint64_t messages = 0;
    std::uint64_t ready_ns = 0;
    std::uint64_t hides_ns = 0;
    std::map<std::uint32_t, std::uint64_t> by_kernel;
    template <typename Archive>
    void exchange(Archive& archive) {
      archive(messages, ready_ns, hides_ns, by_kernel);
    }
  };
  const MessageIndex& index_;
  StringPool& strings_;
  std::map<std::uint32_t, Sums> sums_;  ///< by site
};

}  // namespace penstock::analysis
