// Reads an OTF2 archive back through the library's reader, for tests. Test only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace penstock::analysis::testing {

struct ArchivedEvent {
  std::string kind;  ///< "enter", "leave", "send", "isend", "isend complete", "irecv request", "recv",
                     ///< "irecv", "collective begin", "collective end"
  std::uint64_t at = 0;
  std::string region;      ///< of enter and leave
  std::uint32_t peer = 0;  ///< number in the communicator; root of a collective
  std::string communicator;
  std::uint32_t tag = 0;
  std::uint64_t bytes = 0;     ///< sent, of a collective
  std::uint64_t received = 0;  ///< of a collective
  std::uint64_t request = 0;
  std::uint32_t operation = 0;                    ///< OTF2_CollectiveOp
  std::map<std::string, std::string> attributes;  ///< those that are text
};

struct ArchivedLocation {
  std::string name;
  std::string group;
  std::uint32_t type = 0;         ///< OTF2_LocationType
  std::uint64_t event_count = 0;  ///< as its definition says
  std::vector<ArchivedEvent> events;
};

struct Otf2Archive {
  std::map<std::uint64_t, ArchivedLocation> locations;
  std::map<std::string, std::uint32_t> region_roles;          ///< OTF2_RegionRole by name
  std::map<std::string, std::vector<std::uint64_t>> members;  ///< of each communicator, as its group says
  std::uint64_t ticks_per_second = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint64_t realtime = 0;

  /// Throws std::runtime_error where a viewer would stumble: what does not nest, times that go back or lie
  /// outside of the trace, counts that do not hold, requests that do not pair.
  void require_sound() const;
};

/// `directory` holds traces.otf2. Throws std::runtime_error where the library does not read on.
[[nodiscard]] Otf2Archive read_otf2(const std::filesystem::path& directory);

}  // namespace penstock::analysis::testing
