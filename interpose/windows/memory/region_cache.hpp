// The regions that all members have attached to a dynamic window, as this process reaches them: found by
// address, opened at the first access, and forgotten when they are detached. Knows neither epochs nor MPI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "interpose/windows/memory/member_memory.hpp"
#include "interpose/windows/memory/region_table.hpp"
#include "transports/host/callers_mutex.hpp"

namespace penstock::interpose {

/// Where an address of a target leads.
struct FoundRegion {
  std::shared_ptr<MemberMemory> memory;  ///< null: nowhere
  std::uint64_t base = 0;                ///< of the memory, in the target's address space
  std::uint64_t bytes = 0;        ///< from the base on, with the regions behind it that the same way leads to
  const char* why_not = nullptr;  ///< why this process cannot reach what is attached there: a literal
  bool is_new = false;            ///< it is the first time: the next may succeed
};

/// Owns shares of mappings. Thread: any. Errors: std::bad_alloc.
class RegionCache {
 public:
  /// `tables`: of each member.
  explicit RegionCache(const std::vector<RegionTable>& tables) : members_(tables.begin(), tables.end()) {}

  /// Finds the region that has the address, as it was attached before the caller has synchronised with the
  /// target. Looks for those behind it until there are `bytes` from the address on.
  [[nodiscard]] FoundRegion find(std::size_t target, std::uint64_t address, std::uint64_t bytes);
  /// Gives up the mappings of regions that were detached: they keep memory alive that its owner has freed.
  void drop_detached();

 private:
  struct Region {
    std::uint64_t generation = 0;  ///< of the row that it was read from
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;  ///< 0: there is none
    std::shared_ptr<MemberMemory> memory;
    bool is_open = false;
    bool has_failed = false;
  };
  struct Member {
    explicit Member(const RegionTable& its) noexcept : table(its) {}
    RegionTable table;
    std::uint64_t version = 0;            ///< of the table, as it was read
    std::vector<Region> rows;             ///< as in the table
    std::vector<std::size_t> by_address;  ///< the rows that have a region
  };
  static void update(Member& member);

  transports::CallersMutex mutex_;
  std::vector<Member> members_;
};

}  // namespace penstock::interpose
