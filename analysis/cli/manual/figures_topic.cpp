// penstock help figures. Parts and efficiencies are those of the report's tables, JSON keys those of its
// schema.
#include <iterator>
#include <string>
#include <utility>

#include "analysis/causes/cause.hpp"
#include "analysis/cli/manual/report_schema.hpp"
#include "analysis/cli/manual/schema_sections.hpp"
#include "analysis/cli/manual/topic.hpp"
#include "analysis/report/conclusions/efficiency_names.hpp"
#include "analysis/report/part_figures.hpp"

namespace penstock::cli {
namespace {

using analysis::TimePart;

TopicSection of_ranks() {
  return {
      "In the report: ranks, threads, call sites",
      {"H: the host is inside an MPI call that waits, carries bytes or starts a collective. R: a "
       "non-blocking operation is "
       "in flight. C: H or R. K: a kernel of the program runs. All figures are of what is counted: the "
       "program's steps, "
       "from the first to the last, where steps are found; else the run. Times are of the average rank, or "
       "of the rank "
       "in whose row they stand."},
      {{"kernels", "K", {"The GPU computes. No copies, and no kernels of Penstock or NCCL."}},
       {"comm.", "C", {"Communication goes on, exposed or hidden."}},
       {"hidden", "C with K", {"Communication while a kernel runs."}},
       {"overlap", "hidden ÷ comm.", {"The share of the communication that costs nothing."}},
       {"exposed",
        "H without K",
        {"The rank is in MPI, and its GPU computes nothing. Each moment has a cause: `penstock help "
         "causes`."}},
       {"in MPI",
        "H",
        {"In the place of exposed, where the kernels were not recorded; the report says why."}},
       {"up to",
        "C without K",
        {"Exposed, and what was in flight while the rank was in no MPI call and no kernel ran: how much more "
         "it may be, as of a program that polls by `MPI_Test`."}},
       {"of steps, of run", "%", {"Exposed, of the counted time."}},
       {"most, rank", "", {"The rank that has most of it, and how much."}},
       {"calls, times, count", "", {"How often it was called, waited for, sent."}},
       {"GB/s",
        "",
        {"Reached while data moved: the median of the messages of a row. For NCCL what nccl-tests call the "
         "bus bandwidth."}},
       {"‡", "", {"Half of it or more is within the error of the hosts' clocks: it may have another cause."}},
       {"†", "", {"The rank did not reach MPI_Finalize: figures up to its last record."}},
       {"§",
        "",
        {"A thread that is not known to have launched kernels: those of all the rank's GPUs count for "
         "it."}}}};
}

/// Returns what a part is, as a sentence.
std::string words_of(TimePart part) {
  return cause_of(part) ? "Exposed communication: " + std::string(meaning_of(part)) + "."
                        : sentence(meaning_of(part));
}

TopicSection of_parts() {
  TopicSection section{"In the report: where the time goes",
                       {"Each moment of a rank belongs to the first of these that it can belong to, so they "
                        "add up to the counted time. "
                        "`penstock help causes` has more on those that are exposed communication."},
                       {}};
  for (std::size_t i = 0; i < analysis::part_count; ++i) {
    const auto part = static_cast<TimePart>(i);
    section.entries.push_back({std::string(name_of(part)),
                               "`" + std::string(identifier_of(part)) + "` in JSON and conditions",
                               {words_of(part)}});
  }
  return section;
}

TopicSection of_efficiencies() {
  constexpr const char* texts[] = {
      "Load balance × communication efficiency (POP, https://pop-coe.eu).",
      "Mean ÷ largest computing time (the GPU computes, or the host is outside MPI and synchronisation).",
      "Serialisation × transfer.",
      "Largest computing time ÷ the time with free messages, by replay: what waiting for each other costs.",
      "The time with free messages ÷ the time: what moving data costs."};
  constexpr const char* gpu_texts[] = {
      "The product of the next three (TALP).", "Mean ÷ largest kernel time of the GPUs.",
      "Largest kernel time ÷ largest time of kernels and copies.",
      "Largest time of kernels and copies ÷ the time: what a GPU idles because nothing is queued on it."};
  static_assert(std::size(texts) == std::size(analysis::efficiencies));
  static_assert(std::size(gpu_texts) == std::size(analysis::gpu_efficiencies));
  TopicSection section{"Efficiencies", {"From 0 to 100 %; of jobs that can be replayed."}, {}};
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    section.entries.push_back({std::string(analysis::efficiencies[i].name), "", {texts[i]}});
  }
  for (std::size_t i = 0; i < std::size(gpu_texts); ++i) {
    section.entries.push_back({std::string(analysis::gpu_efficiencies[i].name), "", {gpu_texts[i]}});
  }
  return section;
}

TopicSection of_conditions() {
  return {
      "In conditions: --fail-if",
      {"FIGURE OPERATOR NUMBER UNIT, such as 'exposed > 10%'. Blanks and hyphens may stand for underscores."},
      {{"step", "ms, us, s", {"Mean time of a step on the average rank."}},
       {"exposed, causes, parts",
        "%, ms, us, s",
        {"% of the counted time; ms, us, s of the average rank in all of it."}},
       {"overlap, efficiencies", "%", {}},
       {"+NUMBER",
        "%, ms, us, s",
        {"A change against an earlier run, of times alone: % of that run's time, or ms, us, s of a step. The "
         "earlier run is that of --baseline, or of penstock trend the one before the newest. One that may be "
         "chance counts as none, and a line says where that hides a change of NUMBER."}}}};
}

}  // namespace

Topic figures_topic() {
  Topic topic{"figures",
              "what the figures of a report mean, and their units",
              {of_ranks(), of_parts(), of_efficiencies(), of_conditions()}};
  topic.sections.push_back({"In the JSON of penstock report --json, schema penstock-report-2",
                            {"Times are seconds, sizes bytes, shares 0 to 1; null is not known. Sums are "
                             "over the counted ranks. What "
                             "follows is in the order of analysis/report.schema.json."},
                            {}});
  for (TopicSection& each : sections_of_schema(report_schema())) {
    each.title = "JSON: " + each.title;
    topic.sections.push_back(std::move(each));
  }
  return topic;
}

}  // namespace penstock::cli
