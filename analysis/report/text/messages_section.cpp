#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

std::string reason_of(const TransportFigures& transport) {
  if (!transport.went_packed()) {
    return printable(transport.reason);
  }
  return fmt::format("{} ({} sent)", printable(transport.reason), bytes_text(transport.wire_bytes));
}

}  // namespace

void write_transports(ReportWriter& out) {
  if (out.report.transports.empty()) {
    return;
  }
  TextTable rows({{"Messages"},
                  {"size"},
                  {"count", Align::right},
                  {"bytes", Align::right},
                  {"transport"},
                  {"GB/s", Align::right},
                  {"why this transport", Align::left, true}});
  for (std::size_t i = 0; i < std::min(out.report.transports.size(), out.options.top); ++i) {
    const TransportFigures& transport = out.report.transports[i];
    const bool is_mpis = transport.transport == trace::TransportKind::mpi;
    rows.add_row({fmt::format("{}{} → {}", transport.is_part ? "part of other calls: " : "",
                              name_of(transport.source), name_of(transport.destination)),
                  size_class_text(transport.size_limit_bytes), count_text(transport.messages),
                  bytes_text(transport.bytes), name_of(transport.transport),
                  transport.median_gbps ? speed_text(*transport.median_gbps) : "–",
                  is_mpis ? "carried by the MPI library" : reason_of(transport)});
  }
  out.table(rows);
  out.note_more(out.report.transports.size());
}

}  // namespace penstock::analysis
