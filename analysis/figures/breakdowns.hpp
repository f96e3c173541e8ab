// Breaks waits down by call site, peer, communicator and MPI function. Must not know steps, messages or
// kernels.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/tables/sum_table.hpp"

namespace penstock::analysis {

/// All breakdowns are sums over one table, so that a wait is added once. Memory: proportional to the distinct
/// call sites and peers.
class Breakdowns {
 public:
  explicit Breakdowns(const FigureContext& context) : strings_(context.strings), sites_(context.sites) {}
  void add(const WaitInput& wait);
  void add(const CallInput& call) { traffic_at(call.site).gpu_wait_ns += call.gpu_wait_ns; }
  void add(const RankInput& rank);
  void merge(Breakdowns&& part, const Renumbering& numbers);
  auto members() { return std::tie(waits_, traffic_, communicators_); }
  void finish(Report& report, SiteNames& names);

 private:
  /// The properties that distinguish waiting time, besides its causes.
  struct Key {
    std::uint32_t site;  ///< each call path has its own
    std::int32_t peer;
    std::uint64_t communicator;
    [[nodiscard]] Key renumbered(const Renumbering& numbers) const {
      return {numbers.paths[site], peer, communicator};
    }
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    std::uint64_t operator()(const Key& key) const noexcept {
      const auto peer = static_cast<std::uint32_t>(key.peer);
      return mixed(mixed(key.site, peer), key.communicator);
    }
  };
  struct Waited {
    std::uint64_t time_ns = 0;
    std::uint64_t within_error_ns = 0;
    auto members() { return std::tie(time_ns, within_error_ns); }
  };
  using WaitedByCause = std::array<Waited, cause_count>;
  struct Traffic {
    std::uint64_t calls = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gpu_wait_ns = 0;
    auto members() { return std::tie(calls, bytes, gpu_wait_ns); }
  };
  struct NamedCommunicator {
    std::string name;
    std::int32_t size = 0;
    auto members() { return std::tie(name, size); }
  };
  void learn(std::uint64_t global_id, NamedCommunicator&& communicator);
  Traffic& traffic_at(std::uint32_t site) {
    if (site >= traffic_.size()) {
      traffic_.resize(sites_.sites().size());
    }
    return traffic_[site];
  }
  [[nodiscard]] static std::uint64_t time_of(const WaitedByCause& waited);
  template <typename Figures>
  static void charge(Figures& figures, const WaitedByCause& waited);
  void finish_peers(Report& report) const;
  void finish_communicators(Report& report) const;
  void finish_functions(Report& report) const;
  [[nodiscard]] std::vector<std::optional<WaitedByCause>> waits_by_site() const;
  void finish_call_sites(Report& report, SiteNames& names) const;
  void finish_call_paths(Report& report, SiteNames& names) const;

  const StringPool& strings_;
  const SiteTable& sites_;
  SumTable<Key, HashKey, WaitedByCause> waits_;
  std::vector<Traffic> traffic_;                              ///< by site
  std::map<std::uint64_t, NamedCommunicator> communicators_;  ///< by global id
};

}  // namespace penstock::analysis
