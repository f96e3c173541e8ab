#include "tests/analysis/export/otf2_reader.hpp"

#include <otf2/otf2.h>

#include <set>
#include <stdexcept>

namespace penstock::analysis::testing {
namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("OTF2 archive: " + what);
}

/// What callbacks fill.
struct State {
  Otf2Archive archive;
  std::map<OTF2_StringRef, std::string> strings;
  std::map<OTF2_RegionRef, std::string> regions;
  std::map<OTF2_AttributeRef, std::string> attributes;
  std::map<OTF2_LocationGroupRef, std::string> groups;
  std::map<OTF2_GroupRef, std::vector<std::uint64_t>> members;
  std::map<OTF2_CommRef, std::string> communicators;

  ArchivedEvent& add(OTF2_LocationRef location, OTF2_TimeStamp time, const char* kind,
                     OTF2_AttributeList* attributes_of_event) {
    ArchivedEvent event;
    event.kind = kind;
    event.at = time;
    for (std::uint32_t i = 0; i < OTF2_AttributeList_GetNumberOfElements(attributes_of_event); ++i) {
      OTF2_AttributeRef which = 0;
      OTF2_Type type = OTF2_TYPE_NONE;
      OTF2_AttributeValue value{};
      OTF2_AttributeList_GetAttributeByIndex(attributes_of_event, i, &which, &type, &value);
      if (type == OTF2_TYPE_STRING) event.attributes[attributes.at(which)] = strings.at(value.stringRef);
    }
    std::vector<ArchivedEvent>& events = archive.locations.at(location).events;
    events.push_back(event);
    return events.back();
  }
};

State& state(void* data) {
  return *static_cast<State*>(data);
}

constexpr OTF2_CallbackCode go_on = OTF2_CALLBACK_SUCCESS;

void read_definitions(OTF2_Reader* reader, State& to) {
  OTF2_GlobalDefReaderCallbacks* const on = OTF2_GlobalDefReaderCallbacks_New();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(
      on, [](void* data, std::uint64_t ticks, std::uint64_t offset, std::uint64_t length,
             std::uint64_t realtime) {
        Otf2Archive& archive = state(data).archive;
        archive.ticks_per_second = ticks;
        archive.offset = offset;
        archive.length = length;
        archive.realtime = realtime;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(on, [](void* data, OTF2_StringRef self, const char* text) {
    state(data).strings[self] = text;
    return go_on;
  });
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(
      on, [](void* data, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_Type) {
        state(data).attributes[self] = state(data).strings.at(name);
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(
      on,
      [](void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef, OTF2_StringRef,
         OTF2_RegionRole role, OTF2_Paradigm, OTF2_RegionFlag, OTF2_StringRef, std::uint32_t, std::uint32_t) {
        state(data).regions[self] = state(data).strings.at(name);
        state(data).archive.region_roles[state(data).strings.at(name)] = role;
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(
      on, [](void* data, OTF2_LocationGroupRef self, OTF2_StringRef name, OTF2_LocationGroupType,
             OTF2_SystemTreeNodeRef, OTF2_LocationGroupRef) {
        state(data).groups[self] = state(data).strings.at(name);
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(on, [](void* data, OTF2_LocationRef self,
                                                           OTF2_StringRef name, OTF2_LocationType type,
                                                           std::uint64_t events,
                                                           OTF2_LocationGroupRef group) {
    State& to_fill = state(data);
    to_fill.archive.locations[self] = {to_fill.strings.at(name), to_fill.groups.at(group), type, events, {}};
    return go_on;
  });
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(
      on, [](void* data, OTF2_GroupRef self, OTF2_StringRef, OTF2_GroupType, OTF2_Paradigm, OTF2_GroupFlag,
             std::uint32_t count, const std::uint64_t* members) {
        state(data).members[self] = {members, members + count};
        return go_on;
      });
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(on, [](void* data, OTF2_CommRef self, OTF2_StringRef name,
                                                       OTF2_GroupRef group, OTF2_CommRef, OTF2_CommFlag) {
    State& to_fill = state(data);
    to_fill.communicators[self] = to_fill.strings.at(name);
    to_fill.archive.members[to_fill.strings.at(name)] = to_fill.members.at(group);
    return go_on;
  });
  OTF2_GlobalDefReader* const definitions = OTF2_Reader_GetGlobalDefReader(reader);
  require(definitions != nullptr, "no definitions");
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, on, &to);
  std::uint64_t count = 0;
  require(OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &count) == OTF2_SUCCESS,
          "definitions cannot be read");
  OTF2_GlobalDefReaderCallbacks_Delete(on);
}

/// The commonest form of a message's event.
template <const char* const& kind>
OTF2_CallbackCode blocking(OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                           OTF2_AttributeList* list, std::uint32_t peer, OTF2_CommRef communicator,
                           std::uint32_t tag, std::uint64_t bytes) {
  ArchivedEvent& event = state(data).add(location, time, kind, list);
  event.peer = peer;
  event.communicator = state(data).communicators.at(communicator);
  event.tag = tag;
  event.bytes = bytes;
  return go_on;
}

template <const char* const& kind>
OTF2_CallbackCode non_blocking(OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                               OTF2_AttributeList* list, std::uint32_t peer, OTF2_CommRef communicator,
                               std::uint32_t tag, std::uint64_t bytes, std::uint64_t request) {
  blocking<kind>(location, time, data, list, peer, communicator, tag, bytes);
  state(data).archive.locations.at(location).events.back().request = request;
  return go_on;
}

template <const char* const& kind>
OTF2_CallbackCode request_only(OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                               OTF2_AttributeList* list, std::uint64_t request) {
  state(data).add(location, time, kind, list).request = request;
  return go_on;
}

template <const char* const& kind>
OTF2_CallbackCode of_region(OTF2_LocationRef location, OTF2_TimeStamp time, void* data,
                            OTF2_AttributeList* list, OTF2_RegionRef region) {
  state(data).add(location, time, kind, list).region = state(data).regions.at(region);
  return go_on;
}

constexpr const char* enter = "enter";
constexpr const char* leave = "leave";
constexpr const char* send = "send";
constexpr const char* isend = "isend";
constexpr const char* isend_complete = "isend complete";
constexpr const char* irecv_request = "irecv request";
constexpr const char* recv = "recv";
constexpr const char* irecv = "irecv";

void read_events(OTF2_Reader* reader, State& to) {
  // as the library wants it: choose locations, then open their files, then their local definitions
  for (const auto& [location, words] : to.archive.locations) OTF2_Reader_SelectLocation(reader, location);
  const bool has_definitions = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
  require(OTF2_Reader_OpenEvtFiles(reader) == OTF2_SUCCESS, "no event files");
  for (const auto& [location, words] : to.archive.locations) {
    if (OTF2_DefReader* const definitions =
            has_definitions ? OTF2_Reader_GetDefReader(reader, location) : nullptr;
        definitions != nullptr) {
      std::uint64_t count = 0;
      require(OTF2_Reader_ReadAllLocalDefinitions(reader, definitions, &count) == OTF2_SUCCESS,
              "local definitions cannot be read");
      OTF2_Reader_CloseDefReader(reader, definitions);
    }
    require(OTF2_Reader_GetEvtReader(reader, location) != nullptr, "a location has no events");
  }
  if (has_definitions) OTF2_Reader_CloseDefFiles(reader);
  OTF2_GlobalEvtReaderCallbacks* const on = OTF2_GlobalEvtReaderCallbacks_New();
  OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(on, of_region<enter>);
  OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(on, of_region<leave>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(on, blocking<send>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(on, non_blocking<isend>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(on, request_only<isend_complete>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(on, request_only<irecv_request>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(on, blocking<recv>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(on, non_blocking<irecv>);
  OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveBeginCallback(
      on, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList* list) {
        state(data).add(location, time, "collective begin", list);
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(
      on, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList* list,
             OTF2_CollectiveOp operation, OTF2_CommRef communicator, std::uint32_t root, std::uint64_t sent,
             std::uint64_t received) {
        ArchivedEvent& event = state(data).add(location, time, "collective end", list);
        event.operation = operation;
        event.communicator = state(data).communicators.at(communicator);
        event.peer = root;
        event.bytes = sent;
        event.received = received;
        return go_on;
      });
  OTF2_GlobalEvtReaderCallbacks_SetUnknownCallback(
      on, [](OTF2_LocationRef location, OTF2_TimeStamp time, void* data, OTF2_AttributeList* list) {
        state(data).add(location, time, "unknown", list);
        return go_on;
      });
  OTF2_GlobalEvtReader* const events = OTF2_Reader_GetGlobalEvtReader(reader);
  OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, on, &to);
  std::uint64_t count = 0;
  require(OTF2_Reader_ReadAllGlobalEvents(reader, events, &count) == OTF2_SUCCESS, "events cannot be read");
  OTF2_GlobalEvtReaderCallbacks_Delete(on);
  OTF2_Reader_CloseGlobalEvtReader(reader, events);
  OTF2_Reader_CloseEvtFiles(reader);
}

void require_sound_location(const ArchivedLocation& location, const Otf2Archive& archive) {
  require(location.events.size() == location.event_count, location.name + " has not the events it says");
  std::vector<std::string> open;
  std::uint64_t latest = archive.offset;
  bool in_collective = false;
  for (const ArchivedEvent& event : location.events) {
    require(event.at >= latest, "time goes back on " + location.name);
    latest = event.at;
    if (event.kind == "enter") {
      open.push_back(event.region);
    } else if (event.kind == "leave") {
      require(!open.empty() && open.back() == event.region, "regions of " + location.name + " do not nest");
      open.pop_back();
    } else if (event.kind == "collective begin" || event.kind == "collective end") {
      require(in_collective == (event.kind == "collective end"), "collective calls do not pair");
      in_collective = !in_collective;
    }
    require(event.kind != "unknown", "an event that the test does not know");
  }
  require(open.empty() && !in_collective, "a region of " + location.name + " is never left");
  require(latest <= archive.offset + archive.length, "events lie behind the end of the trace");
}

}  // namespace

void Otf2Archive::require_sound() const {
  std::map<std::uint64_t, std::set<std::uint64_t>> sends_of_rank;
  std::map<std::uint64_t, std::set<std::uint64_t>> receives_of_rank;
  for (const auto& [number, location] : locations) {
    require_sound_location(location, *this);
    const std::uint64_t rank = number & 0xffffffff;  // a request may end on another thread of its rank
    for (const ArchivedEvent& event : location.events) {
      // whichever end is met first enters the number, the other takes it out
      auto& pending = event.kind.starts_with("isend") ? sends_of_rank[rank] : receives_of_rank[rank];
      if (event.request != 0 && !pending.insert(event.request).second) pending.erase(event.request);
    }
  }
  for (const auto* requests : {&sends_of_rank, &receives_of_rank}) {
    for (const auto& [rank, pending] : *requests) require(pending.empty(), "a request has one end only");
  }
}

Otf2Archive read_otf2(const std::filesystem::path& directory) {
  OTF2_Reader* const reader = OTF2_Reader_Open((directory / "traces.otf2").c_str());
  require(reader != nullptr, "cannot be opened");
  OTF2_Reader_SetSerialCollectiveCallbacks(reader);
  State state;
  read_definitions(reader, state);
  read_events(reader, state);
  OTF2_Reader_Close(reader);
  return std::move(state.archive);
}

}  // namespace penstock::analysis::testing
