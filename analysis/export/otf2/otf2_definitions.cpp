#include "analysis/export/otf2/otf2_definitions.hpp"

#include <array>
#include <numeric>

#include "analysis/recording/flaw.hpp"

namespace penstock::analysis::exports::otf2 {
namespace {

struct AttributeWords {
  const char* name;
  const char* description;
  OTF2_Type type;
};

/// In the order of Attribute.
constexpr std::array attributes{
    AttributeWords{"call site", "function, file and line that called MPI", OTF2_TYPE_STRING},
    AttributeWords{"source", "file and line that called MPI", OTF2_TYPE_SOURCE_CODE_LOCATION},
    AttributeWords{"bytes", "payload", OTF2_TYPE_UINT64},
    AttributeWords{"transport", "what carried the message", OTF2_TYPE_STRING},
    AttributeWords{"reason", "why this transport", OTF2_TYPE_STRING},
    AttributeWords{"buffer", "kind of memory", OTF2_TYPE_STRING},
    AttributeWords{"calls", "equal calls that this one stands for", OTF2_TYPE_UINT64},
};
static_assert(attributes.size() == static_cast<std::size_t>(Attribute::calls) + 1);

constexpr OTF2_SystemTreeNodeRef machine = 0;

}  // namespace

void check(OTF2_ErrorCode code, const std::filesystem::path& path) {
  if (code != OTF2_SUCCESS) throw TraceError({path, std::nullopt, OTF2_Error_GetDescription(code)});
}

OTF2_StringRef Definitions::string(std::string_view text) {
  if (const auto known = strings_.find(text); known != strings_.end()) return known->second;
  const auto ref = static_cast<OTF2_StringRef>(strings_in_order_.size());
  strings_in_order_.push_back(strings_.emplace(text, ref).first->first);
  return ref;
}

OTF2_RegionRef Definitions::region(std::string_view name, OTF2_RegionRole role, OTF2_Paradigm paradigm) {
  const Region region{string(name), role, paradigm};
  const auto [known, is_new] = regions_.try_emplace({region.name, role, paradigm},
                                                    static_cast<OTF2_RegionRef>(regions_in_order_.size()));
  if (is_new) regions_in_order_.push_back(region);
  return known->second;
}

OTF2_SourceCodeLocationRef Definitions::source(std::string_view file, int line) {
  const Source source{string(file), static_cast<std::uint32_t>(line)};
  const auto [known, is_new] =
      sources_.try_emplace(source, static_cast<OTF2_SourceCodeLocationRef>(sources_in_order_.size()));
  if (is_new) sources_in_order_.push_back(source);
  return known->second;
}

OTF2_SystemTreeNodeRef Definitions::node(std::string_view host) {
  if (host.empty()) return machine;
  return nodes_.try_emplace(string(host), static_cast<OTF2_SystemTreeNodeRef>(nodes_.size() + 1))
      .first->second;
}

Definitions::GroupName Definitions::process(std::int32_t rank, std::string_view name, std::string_view host) {
  const auto number = static_cast<std::uint32_t>(rank);
  processes_.emplace(number, Group{string(name), node(host), number});
  return {false, number};
}

Definitions::GroupName Definitions::accelerator(std::string_view name, std::string_view host, GroupName of) {
  accelerators_.push_back({string(name), node(host), of.index});
  return {true, static_cast<std::uint32_t>(accelerators_.size() - 1)};
}

void Definitions::location(OTF2_LocationRef location, std::string_view name, OTF2_LocationType type,
                           std::uint64_t events, GroupName group) {
  locations_.push_back({location, string(name), type, events, group});
}

/// Numbers all names; that must happen before the first name is written.
void Definitions::number_names(const JobCommunicators& communicators) {
  for (const char* name : {"", "machine", "node", "MPI", "CUDA"}) (void)string(name);
  for (const AttributeWords& each : attributes) {
    (void)string(each.name);
    (void)string(each.description);
  }
  for (const JobCommunicator& each : communicators.all()) (void)string(each.name);
}

void Definitions::write(OTF2_GlobalDefWriter* writer, const Clock& clock,
                        const JobCommunicators& communicators, const std::filesystem::path& path) {
  constexpr std::uint64_t ticks_per_second = 1'000'000'000;
  check(OTF2_GlobalDefWriter_WriteClockProperties(writer, ticks_per_second, clock.first_ns,
                                                  clock.last_ns - clock.first_ns, clock.realtime_of_first_ns),
        path);
  number_names(communicators);
  for (std::size_t i = 0; i < strings_in_order_.size(); ++i) {
    check(OTF2_GlobalDefWriter_WriteString(writer, static_cast<OTF2_StringRef>(i),
                                           std::string(strings_in_order_[i]).c_str()),
          path);
  }
  check(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_MPI, string("MPI"),
                                           OTF2_PARADIGM_CLASS_PROCESS),
        path);
  check(OTF2_GlobalDefWriter_WriteParadigm(writer, OTF2_PARADIGM_CUDA, string("CUDA"),
                                           OTF2_PARADIGM_CLASS_ACCELERATOR),
        path);
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    check(OTF2_GlobalDefWriter_WriteAttribute(writer, static_cast<OTF2_AttributeRef>(i),
                                              string(attributes[i].name), string(attributes[i].description),
                                              attributes[i].type),
          path);
  }
  for (std::size_t i = 0; i < sources_in_order_.size(); ++i) {
    const auto [file, line] = sources_in_order_[i];
    check(OTF2_GlobalDefWriter_WriteSourceCodeLocation(writer, static_cast<OTF2_SourceCodeLocationRef>(i),
                                                       file, line),
          path);
  }
  for (std::size_t i = 0; i < regions_in_order_.size(); ++i) {
    const Region& region = regions_in_order_[i];
    check(OTF2_GlobalDefWriter_WriteRegion(writer, static_cast<OTF2_RegionRef>(i), region.name, region.name,
                                           string(""), region.role, region.paradigm, OTF2_REGION_FLAG_NONE,
                                           OTF2_UNDEFINED_STRING, 0, 0),
          path);
  }
  write_places(writer, path);
  write_communicators(writer, communicators, path);
}

void Definitions::write_places(OTF2_GlobalDefWriter* writer, const std::filesystem::path& path) {
  check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, machine, string("machine"), string("machine"),
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE),
        path);
  std::vector<OTF2_StringRef> hosts(nodes_.size());
  for (const auto& [name, ref] : nodes_) hosts[ref - 1] = name;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    check(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, static_cast<OTF2_SystemTreeNodeRef>(i + 1),
                                                   hosts[i], string("node"), machine),
          path);
  }
  for (const auto& [rank, group] : processes_) {
    check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, rank, group.name, OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                  group.node, OTF2_UNDEFINED_LOCATION_GROUP),
          path);
  }
  const std::uint32_t first_accelerator = processes_.empty() ? 0 : processes_.rbegin()->first + 1;
  for (std::uint32_t i = 0; i < accelerators_.size(); ++i) {
    const Group& group = accelerators_[i];
    check(OTF2_GlobalDefWriter_WriteLocationGroup(writer, first_accelerator + i, group.name,
                                                  OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, group.node,
                                                  group.creator),
          path);
  }
  for (const Location& each : locations_) {
    const std::uint32_t group =
        each.group.is_accelerator ? first_accelerator + each.group.index : each.group.index;
    check(OTF2_GlobalDefWriter_WriteLocation(writer, each.self, each.name, each.type, each.events, group),
          path);
  }
}

void Definitions::write_communicators(OTF2_GlobalDefWriter* writer, const JobCommunicators& communicators,
                                      const std::filesystem::path& path) {
  OTF2_GroupRef next = 0;
  const auto write_group = [&](OTF2_GroupType type, const std::vector<std::uint64_t>& members) {
    check(OTF2_GlobalDefWriter_WriteGroup(writer, next, string(""), type, OTF2_PARADIGM_MPI,
                                          OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(members.size()),
                                          members.data()),
          path);
    return next++;
  };
  const auto write_ranks = [&](const std::vector<std::int32_t>& ranks) {
    return write_group(OTF2_GROUP_TYPE_COMM_GROUP, {ranks.begin(), ranks.end()});
  };
  // the first location of a rank has the rank's number
  std::vector<std::uint64_t> ranks(static_cast<std::size_t>(communicators.world_size()));
  std::iota(ranks.begin(), ranks.end(), 0u);
  (void)write_group(OTF2_GROUP_TYPE_COMM_LOCATIONS, ranks);
  for (std::uint32_t i = 0; i < communicators.all().size(); ++i) {
    const JobCommunicator& each = communicators.all()[i];
    const OTF2_StringRef name = string(each.name);
    if (each.is_inter) {
      const OTF2_GroupRef members = write_ranks(each.members);
      const OTF2_GroupRef others = write_ranks(each.others);
      check(OTF2_GlobalDefWriter_WriteInterComm(writer, i, name, members, others, JobCommunicators::world,
                                                OTF2_COMM_FLAG_NONE),
            path);
      continue;
    }
    const OTF2_GroupRef group = i == JobCommunicators::world  ? write_group(OTF2_GROUP_TYPE_COMM_GROUP, ranks)
                                : i == JobCommunicators::self ? write_group(OTF2_GROUP_TYPE_COMM_SELF, {})
                                                              : write_ranks(each.members);
    check(OTF2_GlobalDefWriter_WriteComm(writer, i, name, group, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
          path);
  }
}

}  // namespace penstock::analysis::exports::otf2
