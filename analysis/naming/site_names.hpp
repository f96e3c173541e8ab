// Names the call sites of a job for people. Must not know what is reported of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/naming/frame_names.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// The properties by which call sites are told apart for people: MPI function, module, function, file, line,
/// and without a line the offset in the module.
using SiteProperties = std::tuple<std::string, std::string, std::string, std::string, int, std::uint64_t>;

/// `strings`, `sites`, and `kept`, if any, must outlive the object. Thread: one at a time.
class SiteNames {
 public:
  SiteNames(const StringPool& strings, const SiteTable& sites, SkipPatterns skip = {},
            KeptNames* kept = nullptr)
      : strings_(strings), sites_(sites), frame_names_(std::move(skip), kept) {}
  [[nodiscard]] std::size_t count() const noexcept { return sites_.sites().size(); }
  /// Returns the MPI function that is called there.
  [[nodiscard]] const std::string& function_of(std::uint32_t id) const {
    return strings_.at(sites_.sites()[id].function);
  }
  [[nodiscard]] SiteProperties properties_of(std::uint32_t id);
  /// References stay valid as long as the object.
  [[nodiscard]] const NamedPath& path_of(std::uint32_t id);
  /// Returns the first site asked for that reads like this one: the same MPI function at the same call site.
  [[nodiscard]] std::uint32_t first_alike(std::uint32_t id);
  /// Returns "exchange (halo.cpp:120)".
  [[nodiscard]] std::string place_of(std::uint32_t id);
  /// Returns the same for each frame of the site's path, innermost first.
  [[nodiscard]] std::vector<std::string> places_on_path(std::uint32_t id);
  /// Returns "MPI_Isend at exchange (halo.cpp:120)".
  [[nodiscard]] std::string call_of(std::uint32_t id);
  [[nodiscard]] const NamedModules& modules() const noexcept { return frame_names_.modules(); }

 private:
  const StringPool& strings_;
  const SiteTable& sites_;
  FrameNames frame_names_;
  std::map<std::uint32_t, NamedPath> paths_;
  std::map<SiteProperties, std::uint32_t> first_alike_;
};

}  // namespace penstock::analysis
