// The numbers that one rank's strings have among all ranks, looked up by text once each. Knows nothing of
// what the texts mean.
#pragma once

#include <cstdint>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/id_table.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// Both must outlive it.
class NameIds {
 public:
  NameIds(const Strings& strings, StringPool& pool) : strings_(strings), pool_(pool) {}
  /// `string`: of the rank.
  [[nodiscard]] std::uint32_t id_of(std::uint32_t string) {
    if (const std::uint32_t* const known = ids_.find(string); known != nullptr) {
      return *known;
    }
    return ids_[string] = pool_.id_of(strings_.at(string));
  }

 private:
  const Strings& strings_;
  StringPool& pool_;
  IdTable<std::uint32_t> ids_;
};

}  // namespace penstock::analysis
