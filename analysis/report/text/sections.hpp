// The sections of the text report. Each writes nothing if it has nothing to say.
#pragma once

#include "analysis/report/text/report_writer.hpp"

namespace penstock::analysis {

void write_header(ReportWriter& out);         // run_section.cpp
void write_unfinished(ReportWriter& out);     // unfinished_section.cpp: why the job did not end
void write_what_follows(ReportWriter& out);   // of such a job
void write_recorded_part(ReportWriter& out);  // what no figure covers
void write_verdict(ReportWriter& out);
void write_throttled(ReportWriter& out);
void write_misplaced(ReportWriter& out);
void write_steps(ReportWriter& out);  // what was counted and what was not
/// Writes the first few pieces of advice; with all sections, the others as well.
void write_advice(ReportWriter& out);
/// Writes the results of the replay in a few lines; with all sections, the trees of efficiencies as well.
void write_replay(ReportWriter& out);
/// Writes all parts of the time, or the causes alone where kernels are not known, and what they mean.
void write_causes(ReportWriter& out);  // waits_section.cpp
/// Writes the table of the report's parts, which there must be, and returns those that have a row; and where
/// host code is.
std::vector<TimePart> write_parts(ReportWriter& out);  // parts_section.cpp
void write_places(ReportWriter& out);
void write_call_sites(ReportWriter& out);
void write_call_paths(ReportWriter& out);
void write_efficiency_over_time(ReportWriter& out);
void write_phases(ReportWriter& out);
void write_thread_phases(ReportWriter& out);
void write_ranks(ReportWriter& out);
void write_placement(ReportWriter& out);  // placement_section.cpp: where each rank ran
void write_kernels(ReportWriter& out);
void write_collectives(ReportWriter& out);
void write_late_ranks(ReportWriter& out);
void write_nccl(ReportWriter& out);        // nccl_section.cpp: what NCCL did, if it was used
void write_transports(ReportWriter& out);  // messages_section.cpp
void write_lost_records(
    ReportWriter& out);                 // of files that are cut off, damaged or missing: closing_section.cpp
void write_flaws(ReportWriter& out);    // all other flaws
void write_closing(ReportWriter& out);  // how far to trust the figures; notices and flaws

}  // namespace penstock::analysis
