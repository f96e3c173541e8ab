// Names the call sites of a job for people. Must not know what is reported of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/naming/call_sites.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// `strings` and `sites` must outlive the object. Thread: one at a time.
class SiteNames {
 public:
  SiteNames(const StringPool& strings, const SiteTable& sites) : strings_(strings), sites_(sites) {}
  [[nodiscard]] std::size_t count() const noexcept { return sites_.sites().size(); }
  [[nodiscard]] const Site& site(std::uint32_t id) const { return sites_.sites()[id]; }
  [[nodiscard]] const std::string& module_of(std::uint32_t id) const { return strings_.at(site(id).module); }
  [[nodiscard]] const std::string& function_of(std::uint32_t id) const {
    return strings_.at(site(id).function);
  }
  [[nodiscard]] SourcePlace source_of(std::uint32_t id) {
    return call_sites_.name(module_of(id), site(id).address);
  }
  /// Returns "exchange (halo.cpp:120)".
  [[nodiscard]] std::string place_of(std::uint32_t id);
  /// Returns "MPI_Isend at exchange (halo.cpp:120)".
  [[nodiscard]] std::string call_of(std::uint32_t id);

 private:
  const StringPool& strings_;
  const SiteTable& sites_;
  CallSites call_sites_;
};

}  // namespace penstock::analysis
