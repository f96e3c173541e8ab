// Finds receives that were posted behind a kernel although their message had been there before it: posted
// earlier, it would have moved while the kernel ran. Knows no text.
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

/// By the call site that posts. Thread: one at a time. Memory: by the number of these and of kernels.
class LateReceives {
 public:
  /// `site_of`: of a return address and a function's string of the rank.
  using SiteOf = std::function<std::uint32_t(std::uint64_t, std::uint32_t)>;

  LateReceives(const MessageIndex& index, StringPool& strings) : index_(index), strings_(strings) {}
  /// `halves` complete in one call, of which `moving_ns` are exposed while data moves. The receive that
  /// completes last stands for all: the others do not lengthen the call. `names`: of the rank.
  void add(const RankWindow& window, NameIds& names, std::span<const std::uint32_t> halves,
           std::uint64_t moving_ns, const SiteOf& site_of);
  /// `strings`, `sites`: the numbers here of those there.
  void merge(const LateReceives& part, std::span<const std::uint32_t> strings,
             std::span<const std::uint32_t> sites);
  /// `call_of_site`: function and place, for people. By what would be hidden, most first.
  [[nodiscard]] std::vector<LateReceiveFigures> finish(
      const std::function<std::string(std::uint32_t)>& call_of_site) const;
  /// See archive.hpp.
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
