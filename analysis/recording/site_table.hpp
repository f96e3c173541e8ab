// Numbers the places in a program that call MPI, alike on all ranks, regardless of load addresses. Must not
// know source lines (call_sites resolves them).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// A RecordedFrame, whose text is in the pool.
struct SiteFrame {
  std::uint32_t text;
  trace::ModuleBuild build;
  std::uint64_t address;
  std::uint64_t offset;
  auto operator<=>(const SiteFrame&) const = default;
};

/// An MPI function and the call path on which it was called.
struct Site {
  std::uint32_t function = 0;     ///< in the pool
  std::vector<SiteFrame> frames;  ///< innermost first, at least one
  auto operator<=>(const Site&) const = default;
  auto members() { return std::tie(function, frames); }
};

/// Thread: one at a time, except for const functions. Ranks are looked up one after the other.
class SiteTable {
 public:
  explicit SiteTable(StringPool& pool) : pool_(pool) {}
  /// Starts a rank: the sites looked up next belong to it.
  void begin_rank();
  [[nodiscard]] std::uint32_t id_of(const RankTrace& rank, std::uint64_t call_site, std::uint32_t function);
  /// Returns nullopt for a site that was never passed to id_of(). Cost: a search by text.
  [[nodiscard]] std::optional<std::uint32_t> find(const RankTrace& rank, std::uint64_t call_site,
                                                  std::uint32_t function) const;
  /// Adds the sites of another table, in its order. `texts`: this pool's number for each number of the other
  /// pool. Returns this table's number for each number of the other table; each path has its own.
  [[nodiscard]] std::vector<std::uint32_t> take_in(const SiteTable& other,
                                                   std::span<const std::uint32_t> texts);
  /// From now on id_of() and joined() give sites that are one for people one number. `first_alike`: returns
  /// the smallest number of a site that is one with the given one.
  void join_alike(std::function<std::uint32_t(std::uint32_t)> first_alike) {
    first_alike_ = std::move(first_alike);
  }
  [[nodiscard]] std::uint32_t joined(std::uint32_t number) const {
    return first_alike_ ? first_alike_(number) : number;
  }
  [[nodiscard]] const std::vector<Site>& sites() const noexcept { return sites_; }
  /// See archive.hpp. Only an empty table may read.
  template <typename Archive>
  void exchange(Archive& archive) {
    std::vector<Site> sites = sites_;
    archive(sites);
    for (const Site& each : sites) {
      static_cast<void>(number_of(each));
    }
  }

 private:
  struct RankKey {
    std::uint64_t call_site;
    std::uint32_t function;  ///< string of the rank
    friend bool operator==(const RankKey&, const RankKey&) = default;
  };
  struct HashRankKey {
    std::size_t operator()(const RankKey& key) const noexcept {
      return static_cast<std::size_t>((key.call_site ^ key.function) * 0x9e3779b97f4a7c15u >> 16);
    }
  };
  /// Caches the last results by hash, because a program calls MPI at a few places again and again.
  struct Recent {
    RankKey key{};
    std::uint32_t id = 0;
    bool is_there = false;
  };
  std::uint32_t number_of(const Site& site);

  StringPool& pool_;
  std::vector<Site> sites_;
  std::map<Site, std::uint32_t> ids_;
  std::unordered_map<RankKey, std::uint32_t, HashRankKey> of_rank_;
  std::array<Recent, 256> recent_{};
  std::function<std::uint32_t(std::uint32_t)> first_alike_;  ///< empty: each path is a site of its own
};

}  // namespace penstock::analysis
