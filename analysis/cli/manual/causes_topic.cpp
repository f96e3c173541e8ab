// penstock help causes. Names, order and the short meaning of each cause are those of the report; what helps
// is told here.
#include <string>

#include "analysis/causes/cause.hpp"
#include "analysis/cli/manual/topic.hpp"

namespace penstock::cli {
namespace {

using analysis::Cause;

struct CauseHelp {
  const char* when;   ///< which part of a wait has this cause
  const char* helps;  ///< against it
};

/// The compiler warns of a cause that is not here.
CauseHelp help_of(Cause cause) {
  switch (cause) {
    case Cause::late_sender:
      return {"Counted until the sending rank had posted the message.",
              "Give both ranks as much to do before the exchange: the report names who came late, and what "
              "it did "
              "meanwhile (a kernel, other calls, host code and where). Post the send before work that it "
              "does not need, "
              "and let the receiver compute between `MPI_Irecv` and `MPI_Wait`."};
    case Cause::late_receiver:
      return {"Counted in a send, until the receiving rank had posted its receive.",
              "Post receives early: `MPI_Irecv` before the kernels, not behind them. Send by `MPI_Isend`, so "
              "that the "
              "sender goes on meanwhile."};
    case Cause::collective_wait:
      return {
          "Counted until the last rank had come to the collective; where data come from a root (`MPI_Bcast`, "
          "`MPI_Scatter`), until the root had. A non-blocking collective is explained in the call that "
          "completes it.",
          "Balance the ranks: the report names those that came last, and what they did meanwhile. Begin the "
          "collective "
          "early and complete it late (`MPI_Iallreduce`). Have fewer: join small reductions, test for "
          "convergence "
          "every tenth time."};
    case Cause::window_wait:
      return {
          "Counted in `MPI_Win_start`, `MPI_Win_wait`, `MPI_Win_lock` and `MPI_Win_lock_all` where they "
          "wait, in windows that Penstock moves.",
          "The report names the rank that was waited for, and what it did meanwhile. "
          "Post early and start late: `MPI_Win_post` before the kernels, `MPI_Win_start` behind them; "
          "complete as soon as the last access is made. Hold locks for the accesses alone, shared where that "
          "will do."};
    case Cause::wire:
      return {
          "Counted is what is left of a wait when nothing else explains it: the time that the bytes need.",
          "Let it move while kernels run: post it before a kernel that needs none of it, complete it "
          "behind. Send less, "
          "and many small messages as one. `penstock report --all` has the reached GB/s of each class of "
          "messages, and "
          "why no faster transport was taken; `penstock tune` has transports chosen by what this machine "
          "can do."};
    case Cause::staging:
      return {
          "A layout with gaps is packed by a kernel; through host memory goes what no transport can bring "
          "from GPU to GPU, or what is faster so.",
          "The table of messages (`penstock report --all`) has the reason. Often: memory of `cudaMalloc` "
          "instead of a "
          "pool; contiguous buffers; GPUs with access to each other (`penstock info`); NVIDIA's MPS where "
          "ranks share "
          "a GPU; `--everywhere` on several nodes."};
    case Cause::gpu_not_ready:
      return {"The message was posted, but its copy waits for what the program had queued before the call.",
              "Queue the kernels whose data are sent first, and others behind the send. If the program "
              "synchronises itself "
              "before it communicates: `PENSTOCK_STREAM_ORDER=none`, which waits for nothing. Kernels that "
              "have nothing to "
              "do with messages go on a non-blocking stream."};
    case Cause::missing_progress:
      return {
          "A non-blocking operation needed the partner once more, and completed only when that came back "
          "into an MPI call.",
          "`PENSTOCK_PROGRESS=thread`, with a core to spare for each rank; or a call of `MPI_Test` now and "
          "then in long "
          "host code; or complete the operation before that."};
    case Cause::unattributed:
      break;
  }
  return {
      "Probes, and windows that the MPI library moves, have no partner in a recording, and nothing is "
      "guessed.",
      "Record all ranks, and all of the run (`PENSTOCK_RANKS`, `PENSTOCK_TRACE_LIMIT`)."};
}

TopicEntry entry_of(Cause cause) {
  const CauseHelp help = help_of(cause);
  TopicEntry entry{std::string(name_of(cause)), "", {}};
  const std::string_view identifier = identifier_of(cause);
  if (identifier != name_of(cause)) entry.note = "`" + std::string(identifier) + "` in JSON and conditions";
  entry.texts.push_back(sentence(meaning_of(cause)) + " " + help.when);
  entry.texts.push_back(std::string("Against it: ") + help.helps);
  return entry;
}

TopicSection gaps() {
  TopicSection section{"Why time is unattributed", {}, {}};
  for (std::size_t i = 1; i < analysis::gap_count; ++i) {
    const auto gap = static_cast<analysis::Gap>(i);
    section.entries.push_back({std::string(identifier_of(gap)), "", {sentence(name_of(gap))}});
  }
  return section;
}

}  // namespace

Topic causes_topic() {
  Topic topic{"causes", "why ranks wait in MPI, and what helps", {}};
  TopicSection causes{"",
                      {"Communication is exposed while a rank is inside an MPI call that waits, carries "
                       "bytes or starts a collective, and none "
                       "of the program's kernels runs on its GPU. Each moment of it has one cause, which is "
                       "found by comparing what both "
                       "sides recorded; the causes add up to all of it.",
                       "A wait for a message is, in this order: late sender or late receiver, missing "
                       "progress, GPU not ready, packing and "
                       "staging, wire. A collective is wait at collective, then the same."},
                      {}};
  for (std::size_t i = 0; i < analysis::cause_count; ++i)
    causes.entries.push_back(entry_of(static_cast<Cause>(i)));
  topic.sections = {std::move(causes), gaps()};
  return topic;
}

}  // namespace penstock::cli
