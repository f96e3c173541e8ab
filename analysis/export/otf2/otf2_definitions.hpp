// The global definitions of an OTF2 archive: names, regions, places, the machine. Numbers each item on first
// use and writes all at the end. Must not know recordings.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/export/common/communicators.hpp"

namespace penstock::analysis::exports::otf2 {

/// Throws TraceError("<path>: <message of the library>") on failure.
void check(OTF2_ErrorCode code, const std::filesystem::path& path);

struct Clock {
  std::uint64_t first_ns = 0;
  std::uint64_t last_ns = 0;
  std::uint64_t realtime_of_first_ns = 0;
};

/// The attributes that this exporter adds to events.
enum class Attribute : std::uint8_t { call_site, source, bytes, transport, reason, buffer, calls };

class Definitions {
 public:
  [[nodiscard]] OTF2_StringRef string(std::string_view text);
  [[nodiscard]] OTF2_RegionRef region(std::string_view name, OTF2_RegionRole role, OTF2_Paradigm paradigm);
  [[nodiscard]] OTF2_SourceCodeLocationRef source(std::string_view file, int line);
  [[nodiscard]] static OTF2_AttributeRef attribute(Attribute which) {
    return static_cast<OTF2_AttributeRef>(which);
  }

  /// The group that contains a location. As in Score-P, a rank's group has its number and the groups of GPUs
  /// follow, so the latter are numbered once all ranks are known.
  struct GroupName {
    bool is_accelerator;
    std::uint32_t index;
  };
  /// Adds a process, once per rank. `host` is empty if only other ranks know of it.
  GroupName process(std::int32_t rank, std::string_view name, std::string_view host);
  GroupName accelerator(std::string_view name, std::string_view host, GroupName of);
  void location(OTF2_LocationRef location, std::string_view name, OTF2_LocationType type,
                std::uint64_t events, GroupName group);

  void write(OTF2_GlobalDefWriter* writer, const Clock& clock, const JobCommunicators& communicators,
             const std::filesystem::path& path);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Source = std::pair<OTF2_StringRef, std::uint32_t>;  ///< file and line
  struct Region {
    OTF2_StringRef name;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
  };
  struct Group {
    OTF2_StringRef name;
    OTF2_SystemTreeNodeRef node;
    std::uint32_t creator;  ///< of accelerators: the rank
  };
  struct Location {
    OTF2_LocationRef self;
    OTF2_StringRef name;
    OTF2_LocationType type;
    std::uint64_t events;
    GroupName group;
  };

  [[nodiscard]] OTF2_SystemTreeNodeRef node(std::string_view host);
  void number_names(const JobCommunicators& communicators);
  void write_places(OTF2_GlobalDefWriter* writer, const std::filesystem::path& path);
  void write_communicators(OTF2_GlobalDefWriter* writer, const JobCommunicators& communicators,
                           const std::filesystem::path& path);

  std::unordered_map<std::string, OTF2_StringRef, Hash, std::equal_to<>> strings_;
  std::vector<std::string_view> strings_in_order_;  ///< into the keys of `strings_`
  std::map<std::tuple<OTF2_StringRef, OTF2_RegionRole, OTF2_Paradigm>, OTF2_RegionRef> regions_;
  std::vector<Region> regions_in_order_;
  std::map<Source, OTF2_SourceCodeLocationRef> sources_;
  std::vector<Source> sources_in_order_;
  std::map<OTF2_StringRef, OTF2_SystemTreeNodeRef> nodes_;  ///< by host name; 0 is the machine
  std::map<std::uint32_t, Group> processes_;                ///< by rank
  std::vector<Group> accelerators_;
  std::vector<Location> locations_;
};

}  // namespace penstock::analysis::exports::otf2
