// Writes the events of one location of an OTF2 archive, in walk()'s order. Must not know the place in the
// archive or other locations.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <unordered_map>

#include "analysis/export/common/communicators.hpp"
#include "analysis/export/common/exporter.hpp"
#include "analysis/export/common/mpi_operation.hpp"
#include "analysis/export/common/tracks.hpp"
#include "analysis/export/otf2/otf2_definitions.hpp"

namespace penstock::analysis::exports::otf2 {

/// The time from the first to the last event of the archive.
struct Span {
  std::uint64_t first_ns = ~std::uint64_t{0};
  std::uint64_t last_ns = 0;
};

class LocationWriter {
 public:
  LocationWriter(OTF2_EvtWriter* writer, const ExportedRank& rank, Definitions& definitions,
                 const JobCommunicators& communicators, Span& span, const std::filesystem::path& path);

  void begin(const Slice& slice);
  void end(const Slice& slice);
  void message(const MessageEnd& end);

 private:
  struct FreeList {
    void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
  };

  /// An MPI function; each name is looked up once.
  struct Function {
    OTF2_RegionRef region = 0;
    Role role = Role::other;
    Collective collective = Collective::none;
  };

  [[nodiscard]] std::uint64_t time(std::uint64_t host_ns);
  [[nodiscard]] const Function& function(std::uint32_t name);
  [[nodiscard]] OTF2_RegionRef region_of(const Slice& slice);
  void describe_call(const trace::MpiCall& call);
  void describe_message(std::uint32_t half);
  void add_text(Attribute which, std::string_view text);
  void begin_collective(const trace::MpiCall& call, std::uint64_t at_ns);
  void end_collective(const trace::MpiCall& call, std::uint64_t at_ns);
  [[nodiscard]] bool is_collective(const trace::MpiCall& call);
  void check(OTF2_ErrorCode code) const { otf2::check(code, path_); }

  OTF2_EvtWriter* writer_;
  const ExportedRank& rank_;
  const RankTrace& trace_;
  RankNames& names_;
  Definitions& definitions_;
  const JobCommunicators& communicators_;
  Span& span_;
  const std::filesystem::path& path_;
  std::unordered_map<std::uint32_t, Function> functions_;     ///< by string id
  std::unique_ptr<OTF2_AttributeList, FreeList> attributes_;  ///< of the next event, which consumes them
};

}  // namespace penstock::analysis::exports::otf2
