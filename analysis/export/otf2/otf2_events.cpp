#include "analysis/export/otf2/otf2_events.hpp"

#include <algorithm>

#include "analysis/report/message_figures.hpp"

namespace penstock::analysis::exports::otf2 {
namespace {

OTF2_RegionRole otf2_role(Role role) {
  switch (role) {
    case Role::point_to_point:
      return OTF2_REGION_ROLE_POINT2POINT;
    case Role::barrier:
      return OTF2_REGION_ROLE_BARRIER;
    case Role::one_to_all:
      return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case Role::all_to_one:
      return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case Role::all_to_all:
      return OTF2_REGION_ROLE_COLL_ALL2ALL;
    case Role::other_collective:
      return OTF2_REGION_ROLE_COLL_OTHER;
    case Role::one_sided:
      return OTF2_REGION_ROLE_RMA;
    case Role::file:
      return OTF2_REGION_ROLE_FILE_IO;
    case Role::other:
      break;
  }
  return OTF2_REGION_ROLE_FUNCTION;
}

OTF2_CollectiveOp otf2_operation(Collective operation) {
  switch (operation) {
    case Collective::bcast:
      return OTF2_COLLECTIVE_OP_BCAST;
    case Collective::gather:
      return OTF2_COLLECTIVE_OP_GATHER;
    case Collective::gatherv:
      return OTF2_COLLECTIVE_OP_GATHERV;
    case Collective::scatter:
      return OTF2_COLLECTIVE_OP_SCATTER;
    case Collective::scatterv:
      return OTF2_COLLECTIVE_OP_SCATTERV;
    case Collective::allgather:
      return OTF2_COLLECTIVE_OP_ALLGATHER;
    case Collective::allgatherv:
      return OTF2_COLLECTIVE_OP_ALLGATHERV;
    case Collective::alltoall:
      return OTF2_COLLECTIVE_OP_ALLTOALL;
    case Collective::alltoallv:
      return OTF2_COLLECTIVE_OP_ALLTOALLV;
    case Collective::alltoallw:
      return OTF2_COLLECTIVE_OP_ALLTOALLW;
    case Collective::allreduce:
      return OTF2_COLLECTIVE_OP_ALLREDUCE;
    case Collective::reduce:
      return OTF2_COLLECTIVE_OP_REDUCE;
    case Collective::reduce_scatter:
      return OTF2_COLLECTIVE_OP_REDUCE_SCATTER;
    case Collective::reduce_scatter_block:
      return OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK;
    case Collective::scan:
      return OTF2_COLLECTIVE_OP_SCAN;
    case Collective::exscan:
      return OTF2_COLLECTIVE_OP_EXSCAN;
    case Collective::create_communicator:
      return OTF2_COLLECTIVE_OP_CREATE_HANDLE;
    case Collective::free_communicator:
      return OTF2_COLLECTIVE_OP_DESTROY_HANDLE;
    case Collective::barrier:
    case Collective::none:
      break;
  }
  return OTF2_COLLECTIVE_OP_BARRIER;
}

/// Bytes by direction. A recording has one number of bytes per call; the operation determines the direction.
struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

Traffic traffic_of(const trace::MpiCall& call, Role role, bool is_root) {
  switch (role) {
    case Role::one_to_all:
      return is_root ? Traffic{call.bytes, 0} : Traffic{0, call.bytes};
    case Role::all_to_one:
      return is_root ? Traffic{0, call.bytes} : Traffic{call.bytes, 0};
    default:
      return {call.bytes, 0};  // both directions together
  }
}

}  // namespace

LocationWriter::LocationWriter(OTF2_EvtWriter* writer, const ExportedRank& rank, Definitions& definitions,
                               const JobCommunicators& communicators, Span& span,
                               const std::filesystem::path& path)
    : writer_(writer),
      rank_(rank),
      trace_(rank.trace()),
      names_(rank.names()),
      definitions_(definitions),
      communicators_(communicators),
      span_(span),
      path_(path),
      attributes_(OTF2_AttributeList_New()) {}

std::uint64_t LocationWriter::time(std::uint64_t host_ns) {
  const std::uint64_t at_ns = rank_.clock()(host_ns);
  span_.first_ns = std::min(span_.first_ns, at_ns);
  span_.last_ns = std::max(span_.last_ns, at_ns);
  return at_ns;
}

const LocationWriter::Function& LocationWriter::function(std::uint32_t name) {
  const auto [found, is_new] = functions_.try_emplace(name);
  if (is_new) {
    const std::string& text = names_.text(name);
    const Role role = role_of(text);
    found->second = {definitions_.region(text, otf2_role(role), OTF2_PARADIGM_MPI), role,
                     collective_of(text)};
  }
  return found->second;
}

OTF2_RegionRef LocationWriter::region_of(const Slice& slice) {
  switch (slice.source) {
    case Source::call:
      return function(trace_.calls[slice.index].record.function).region;
    case Source::kernel:
      return definitions_.region(names_.activity(trace_.kernels[slice.index]), OTF2_REGION_ROLE_FUNCTION,
                                 OTF2_PARADIGM_CUDA);
    case Source::copy:
      return definitions_.region(names_.activity(trace_.copies[slice.index]), OTF2_REGION_ROLE_DATA_TRANSFER,
                                 OTF2_PARADIGM_CUDA);
    default:
      break;
  }
  return definitions_.region(names_.text(trace_.ranges[slice.index].name), OTF2_REGION_ROLE_CODE,
                             OTF2_PARADIGM_USER);
}

void LocationWriter::begin(const Slice& slice) {
  rank_.count_record();
  if (slice.source == Source::call) {
    describe_call(trace_.calls[slice.index].record);
  } else if (slice.source == Source::copy) {
    check(OTF2_AttributeList_AddUint64(attributes_.get(), Definitions::attribute(Attribute::bytes),
                                       trace_.copies[slice.index].bytes));
  }
  const std::uint64_t at_ns = time(slice.begin_ns);
  check(OTF2_EvtWriter_Enter(writer_, attributes_.get(), at_ns, region_of(slice)));
  if (slice.source == Source::call) begin_collective(trace_.calls[slice.index].record, at_ns);
}

void LocationWriter::end(const Slice& slice) {
  const std::uint64_t at_ns = time(slice.end_ns);
  if (slice.source == Source::call) end_collective(trace_.calls[slice.index].record, at_ns);
  check(OTF2_EvtWriter_Leave(writer_, nullptr, at_ns, region_of(slice)));
}

void LocationWriter::add_text(Attribute which, std::string_view text) {
  if (text.empty()) return;
  check(OTF2_AttributeList_AddStringRef(attributes_.get(), Definitions::attribute(which),
                                        definitions_.string(text)));
}

void LocationWriter::describe_call(const trace::MpiCall& call) {
  const NamedSite& site = names_.site(call.call_site);
  add_text(Attribute::call_site, site.text);
  if (!site.file.empty()) {
    check(OTF2_AttributeList_AddSourceCodeLocationRef(attributes_.get(),
                                                      Definitions::attribute(Attribute::source),
                                                      definitions_.source(site.file, site.line)));
  }
  if (call.repeats > 1) {
    check(OTF2_AttributeList_AddUint64(attributes_.get(), Definitions::attribute(Attribute::calls),
                                       call.repeats));
  }
}

bool LocationWriter::is_collective(const trace::MpiCall& call) {
  return call.collective_ordinal != 0 && function(call.function).collective != Collective::none;
}

void LocationWriter::begin_collective(const trace::MpiCall& call, std::uint64_t at_ns) {
  if (is_collective(call)) check(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, at_ns));
}

void LocationWriter::end_collective(const trace::MpiCall& call, std::uint64_t at_ns) {
  if (!is_collective(call)) return;
  const auto [region, role, operation] = function(call.function);
  const std::uint32_t communicator = communicators_.number_of(call.communicator);
  const bool is_rooted = role == Role::one_to_all || role == Role::all_to_one;
  const std::uint32_t root =
      is_rooted ? communicators_.rank_in(communicator, call.peer).value_or(OTF2_COLLECTIVE_ROOT_NONE)
                : static_cast<std::uint32_t>(OTF2_COLLECTIVE_ROOT_NONE);
  const Traffic traffic = traffic_of(call, role, call.peer == trace_.header.world_rank);
  check(OTF2_EvtWriter_MpiCollectiveEnd(writer_, nullptr, at_ns, otf2_operation(operation), communicator,
                                        root, traffic.sent, traffic.received));
}

void LocationWriter::describe_message(std::uint32_t half) {
  const MessageFacts facts = rank_.message(half);
  if (facts.transport != trace::TransportKind::none) add_text(Attribute::transport, name_of(facts.transport));
  add_text(Attribute::reason, names_.text(facts.reason));
  if (const trace::BufferKind kind = trace_.halves[half].record.buffer; kind != trace::BufferKind::unknown)
    add_text(Attribute::buffer, name_of(kind));
}

void LocationWriter::message(const MessageEnd& end) {
  rank_.count_record();
  const trace::MessageHalf& half = trace_.halves[end.half].record;
  const bool is_send = half.direction == trace::Direction::send;
  const bool is_blocking = half.blocking != 0;
  const std::uint64_t request = end.half + 1;
  if (is_blocking && is_send != end.is_post) return;  // one event: a send's begin, a receive's end
  const std::uint32_t communicator = communicators_.number_of(half.communicator);
  const std::optional<std::uint32_t> peer = communicators_.rank_in(communicator, half.peer);
  if (!peer) return;  // a damaged record: no rank of the job
  const std::uint64_t at_ns = time(end.at_ns);
  if (!is_blocking && !is_send && end.is_post) {
    return check(OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, at_ns, request));
  }
  if (!is_blocking && is_send && !end.is_post) {
    return check(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, at_ns, request));
  }
  describe_message(end.half);
  OTF2_AttributeList* const attributes = attributes_.get();
  const auto tag = static_cast<std::uint32_t>(half.tag);
  if (is_send) {
    check(is_blocking
              ? OTF2_EvtWriter_MpiSend(writer_, attributes, at_ns, *peer, communicator, tag, half.bytes)
              : OTF2_EvtWriter_MpiIsend(writer_, attributes, at_ns, *peer, communicator, tag, half.bytes,
                                        request));
  } else {
    check(is_blocking
              ? OTF2_EvtWriter_MpiRecv(writer_, attributes, at_ns, *peer, communicator, tag, half.bytes)
              : OTF2_EvtWriter_MpiIrecv(writer_, attributes, at_ns, *peer, communicator, tag, half.bytes,
                                        request));
  }
}

}  // namespace penstock::analysis::exports::otf2
