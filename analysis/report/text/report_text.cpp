#include "analysis/report/text/report_text.hpp"

#include "analysis/report/text/report_writer.hpp"
#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

struct Section {
  void (*write)(ReportWriter& out);
  bool always;  ///< false: only where all sections are asked for
};

/// In the order in which they are read. A new section is its file and its line here.
constexpr Section sections[] = {
    {write_header, true},                 //
    {write_unfinished, true},             //
    {write_what_follows, true},           //
    {write_lost_records, true},           //
    {write_recorded_part, true},          //
    {write_verdict, true},                //
    {write_throttled, true},              //
    {write_misplaced, true},              //
    {write_steps, true},                  //
    {write_causes, true},                 //
    {write_advice, true},                 //
    {write_replay, true},                 //
    {write_nccl, true},                   //
    {write_call_sites, true},             //
    {write_call_paths, false},            //
    {write_ranks, true},                  //
    {write_placement, false},             //
    {write_kernels, false},               //
    {write_collectives, false},           //
    {write_late_ranks, false},            //
    {write_efficiency_over_time, false},  //
    {write_phases, false},                //
    {write_thread_phases, false},         //
    {write_transports, false},            //
    {write_closing, true},                //
};

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  ReportWriter out(report, options);
  for (const Section& each : sections) {
    if (each.always || options.all) {
      each.write(out);
    }
  }
  return out.take();
}

std::string to_text_of_look(const Report& report, const TextOptions& options) {
  ReportWriter out(report, options);
  write_header(out);
  if (!report.unfinished) {
    out.line("The job has ended: each rank that has a recording reached MPI_Finalize.");
  }
  write_unfinished(out);
  write_lost_records(out);
  write_flaws(out);
  return out.take();
}

}  // namespace penstock::analysis
