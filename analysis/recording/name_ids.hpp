// Maps one rank's string numbers to the numbers shared by all ranks; each text is looked up once. Must not
// know what the texts mean.
#pragma once

#include <cstdint>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/id_table.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// Both arguments must outlive the object.
class NameIds {
 public:
  NameIds(const Strings& strings, StringPool& pool) : strings_(strings), pool_(pool) {}
  /// `string`: the rank's own number.
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
