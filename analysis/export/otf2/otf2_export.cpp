#include "analysis/export/otf2/otf2_export.hpp"

#include <fmt/format.h>
#include <otf2/otf2.h>

#include <cstdarg>
#include <map>
#include <set>
#include <string>
#include <system_error>

#include "analysis/export/common/communicators.hpp"
#include "analysis/export/common/tracks.hpp"
#include "analysis/export/otf2/otf2_definitions.hpp"
#include "analysis/export/otf2/otf2_events.hpp"
#include "analysis/recording/flaw.hpp"

namespace penstock::analysis::exports {
namespace {

constexpr const char* archive_name = "traces";  // the name that Score-P uses

OTF2_FlushType always_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}

/// Records the library's first error and, during its lifetime, prevents the library from printing. Some
/// functions do not return their errors, for example a full disk.
class Failure {
 public:
  Failure() { OTF2_Error_RegisterCallback(note, this); }
  ~Failure() { OTF2_Error_RegisterCallback(nullptr, nullptr); }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  [[nodiscard]] OTF2_ErrorCode code() const noexcept { return code_; }

 private:
  static OTF2_ErrorCode note(void* self, const char*, std::uint64_t, const char*, OTF2_ErrorCode code,
                             const char*, va_list) {
    OTF2_ErrorCode& first = static_cast<Failure*>(self)->code_;
    if (first == OTF2_SUCCESS) first = code;
    return code;
  }
  OTF2_ErrorCode code_ = OTF2_SUCCESS;
};

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { (void)OTF2_Archive_Close(archive); }
};

/// The first location of a rank has the rank's number, because MPI groups use it for the rank.
OTF2_LocationRef location_of(std::int32_t rank, std::uint32_t index) {
  return std::uint64_t{index} << 32 | static_cast<std::uint32_t>(rank);
}

class Otf2Exporter : public Exporter {
  using Group = otf2::Definitions::GroupName;

 public:
  Otf2Exporter(const Destination& destination, const JobClock& clock)
      : clock_(clock), path_(destination.shown()) {
    constexpr std::uint64_t event_chunk_bytes = 1024 * 1024;
    constexpr std::uint64_t definition_chunk_bytes = 4 * 1024 * 1024;
    archive_.reset(OTF2_Archive_Open(destination.work().c_str(), archive_name, OTF2_FILEMODE_WRITE,
                                     event_chunk_bytes, definition_chunk_bytes, OTF2_SUBSTRATE_POSIX,
                                     OTF2_COMPRESSION_NONE));
    if (archive_ == nullptr) fail();
    static const OTF2_FlushCallbacks flush{always_flush, nullptr};
    check(OTF2_Archive_SetFlushCallbacks(archive_.get(), &flush, nullptr));
    check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get()));
    check(OTF2_Archive_SetCreator(archive_.get(), "Penstock"));
    check(OTF2_Archive_OpenEvtFiles(archive_.get()));
    check(OTF2_Archive_OpenDefFiles(archive_.get()));
  }

  void add(const ExportedRank& rank) override {
    const trace::FileHeader& header = rank.trace().header;
    const std::string host = clean_text(header.host_name);
    communicators_.begin_rank(rank.trace(), [&](std::uint32_t id) { return rank.names().text(id); });
    recorded_.insert(header.world_rank);
    const std::string name = fmt::format("rank {}", header.world_rank);
    const Group process = definitions_.process(header.world_rank, name, host);
    std::map<std::uint32_t, Group> devices;
    std::uint32_t locations = 0;
    for (const Track& track : lay_out(rank.trace())) {
      if (track.kind == TrackKind::thread) {
        write(track, rank, location_of(header.world_rank, locations++), OTF2_LOCATION_TYPE_CPU_THREAD,
              process);
      } else if (track.kind == TrackKind::stream) {
        if (locations == 0) locations = 1;  // the first is the host's
        const auto [device, is_new] = devices.try_emplace(track.device);
        if (is_new) {
          device->second =
              definitions_.accelerator(fmt::format("{} GPU {}", name, track.device), host, process);
        }
        write(track, rank, location_of(header.world_rank, locations++), OTF2_LOCATION_TYPE_ACCELERATOR_STREAM,
              device->second);
      }
    }
    if (!has_thread_) write_nothing(location_of(header.world_rank, 0), "thread 0", process);
    has_thread_ = false;
  }

  void finish() override {
    for (std::int32_t rank = 0; rank < communicators_.world_size(); ++rank) {
      if (recorded_.contains(rank)) continue;
      const Group process = definitions_.process(rank, fmt::format("rank {} (not recorded)", rank), "");
      write_nothing(location_of(rank, 0), "not recorded", process);
    }
    check(OTF2_Archive_CloseDefFiles(archive_.get()));
    check(OTF2_Archive_CloseEvtFiles(archive_.get()));
    OTF2_GlobalDefWriter* const writer = OTF2_Archive_GetGlobalDefWriter(archive_.get());
    if (writer == nullptr) fail();
    if (span_.first_ns > span_.last_ns) span_ = {clock_.begin_ns(), clock_.begin_ns()};  // there was no event
    definitions_.write(writer, {span_.first_ns, span_.last_ns, span_.first_ns + clock_.realtime_offset_ns()},
                       communicators_, path_);
    check(OTF2_Archive_CloseGlobalDefWriter(archive_.get(), writer));
    const OTF2_ErrorCode closed = OTF2_Archive_Close(archive_.release());
    check(closed);
  }

 private:
  void check(OTF2_ErrorCode code) const {
    otf2::check(failure_.code(), path_);
    otf2::check(code, path_);
  }
  [[noreturn]] void fail() const {
    otf2::check(failure_.code(), path_);
    throw TraceError({path_, std::nullopt, "OTF2 cannot write there"});
  }

  void write(const Track& track, const ExportedRank& rank, OTF2_LocationRef location, OTF2_LocationType type,
             Group group) {
    OTF2_EvtWriter* const events = open(location);
    walk(track, otf2::LocationWriter(events, rank, definitions_, communicators_, span_, path_));
    const std::string name =
        track.beside == 0 ? track.name : fmt::format("{} ({})", track.name, track.beside + 1);
    definitions_.location(location, name, type, close(events), group);
    has_thread_ = has_thread_ || track.kind == TrackKind::thread;
  }

  /// Writes a location without events: readers require the files of each location.
  void write_nothing(OTF2_LocationRef location, const char* name, Group group) {
    definitions_.location(location, name, OTF2_LOCATION_TYPE_CPU_THREAD, close(open(location)), group);
  }

  [[nodiscard]] OTF2_EvtWriter* open(OTF2_LocationRef location) const {
    OTF2_EvtWriter* const events = OTF2_Archive_GetEvtWriter(archive_.get(), location);
    OTF2_DefWriter* const definitions = OTF2_Archive_GetDefWriter(archive_.get(), location);
    if (events == nullptr || definitions == nullptr) fail();
    check(OTF2_Archive_CloseDefWriter(archive_.get(), definitions));
    return events;
  }

  /// Returns the number of events.
  [[nodiscard]] std::uint64_t close(OTF2_EvtWriter* events) const {
    std::uint64_t count = 0;
    check(OTF2_EvtWriter_GetNumberOfEvents(events, &count));
    const OTF2_ErrorCode closed = OTF2_Archive_CloseEvtWriter(archive_.get(), events);
    check(closed);
    return count;
  }

  const JobClock& clock_;
  std::filesystem::path path_;
  Failure failure_;
  std::unique_ptr<OTF2_Archive, CloseArchive> archive_;
  otf2::Definitions definitions_;
  JobCommunicators communicators_;
  otf2::Span span_;
  std::set<std::int32_t> recorded_;
  bool has_thread_ = false;  ///< of the current rank
};

}  // namespace

std::string why_no_otf2() {
  return "";
}

std::unique_ptr<Exporter> make_otf2_exporter(const Destination& destination, const JobClock& clock) {
  return std::make_unique<Otf2Exporter>(destination, clock);
}

bool is_otf2_export(const std::filesystem::path& directory) {
  std::error_code error;
  const std::string name = archive_name;
  bool has_anchor = false;
  for (std::filesystem::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string place = std::filesystem::relative(entry->path(), directory, error).string();
    const std::string extension = entry->path().extension().string();
    const bool is_in_folder = place.starts_with(name + "/") && (extension == ".evt" || extension == ".def");
    has_anchor = has_anchor || place == name + ".otf2";
    if (!is_in_folder && place != name && place != name + ".otf2" && place != name + ".def") return false;
  }
  return !error && has_anchor;
}

}  // namespace penstock::analysis::exports
