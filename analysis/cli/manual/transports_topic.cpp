// penstock help transports. Names, order and paths are those of transports/kinds/transports.def.
#include <string>

#include "analysis/cli/manual/topic.hpp"
#include "analysis/joining/message_class.hpp"
#include "interpose/record/trace_format.hpp"
#include "transports/kinds/transport_kind.hpp"

namespace penstock::cli {
namespace {

using transports::TransportSpan;
using Traced = trace::TransportKind;

const char* words_of(TransportSpan span) {
  switch (span) {
    case TransportSpan::one_process:
      return "within one process";
    case TransportSpan::ipc:
      return "between processes of a node that use one GPU, or GPUs with access to each other";
    case TransportSpan::host_memory:
      return "between processes of a node";
    case TransportSpan::nodes:
      break;
  }
  return "between nodes";
}

/// The compiler warns of a transport that is not here.
const char* words_of(Traced transport) {
  switch (transport) {
    case Traced::none:
      return "The rank moved nothing itself: another rank did, or the MPI library.";
    case Traced::mpi:
      return "The MPI library carried it from host memory, as it would without Penstock.";
    case Traced::local:
      return "Between threads of one process: the receiver's GPU copies from where the data lie.";
    case Traced::peer:
      return "The receiver's GPU reads the sender's memory (CUDA IPC) over NVLink, PCIe or within one GPU. "
             "The fastest way. It "
             "needs memory that CUDA IPC can export, such as that of `cudaMalloc`.";
    case Traced::relayed:
      return "For large payloads in memory that CUDA IPC cannot export (pools, cuMemMap, managed): the "
             "sender's GPU copies "
             "chunk by chunk into a ring on its own device, from which the receiver's GPU reads.";
    case Traced::pushed:
      return "The sender's GPU writes into the receiver's memory (CUDA IPC): from pinned host memory.";
    case Traced::staged:
      return "Through a ring in pinned host memory that both processes share, chunk by chunk. It carries "
             "everything, and so is "
             "what remains where no other transport can.";
    case Traced::network:
      return "In chunks that MPI carries, while the GPUs copy others. For jobs of several nodes in which all "
             "ranks run "
             "Penstock: `penstock run --everywhere`.";
    case Traced::striped:
      return "In older recordings only: over NVLink and through host memory at the same time.";
    case Traced::fused:
      return "A small collective, by a kernel on each rank that writes into all others' memory. It carries "
             "no message.";
  }
  return "";
}

TopicEntry entry_of(const transports::TransportRow& row) {
  const auto traced = static_cast<Traced>(row.kind);
  const bool is_buffered = analysis::path_of(traced) == analysis::TransportPath::buffered;
  return {row.name,
          words_of(row.span),
          {std::string(words_of(traced)) +
           (is_buffered ? " The payload passes through other memory, so its time counts as staging." : "")}};
}

TopicSection further_words() {
  TopicSection section{"Further words in reports and recordings", {}, {}};
#define PENSTOCK_NO_TRANSPORT(name, ...) section.entries.push_back({#name, "", {words_of(Traced::name)}});
#define PENSTOCK_TRACED_TRANSPORT(name, ...) PENSTOCK_NO_TRANSPORT(name)
#include "transports/kinds/transports.def"
  return section;
}

}  // namespace

Topic transports_topic() {
  Topic topic{"transports", "how GPU buffers travel, and how that is chosen", {}};
  TopicSection all{
      "",
      {"MPI matches a message, and Penstock moves its payload: the receiver picks one of these by the size, "
       "the "
       "kinds of both buffers and what lies between the GPUs. Messages of less than 64 bytes, and a few "
       "others "
       "up to 4 KiB, are copied to host memory and sent by the MPI library (eager).",
       "`penstock info` shows which are open on this machine, why others are not, and from which size on "
       "each is "
       "taken; `penstock tune` measures these sizes once for the machine. `penstock report --all` has each "
       "message class with the transport that it took and why. `penstock run --transport NAME` "
       "(`PENSTOCK_TRANSPORT`) allows this one alone; what it cannot carry is staged."},
      {}};
  for (const transports::TransportRow& row : transports::transport_rows) all.entries.push_back(entry_of(row));
  topic.sections = {std::move(all), further_words()};
  return topic;
}

}  // namespace penstock::cli
