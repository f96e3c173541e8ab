#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {

Json of(const TransportFigures& transport) {
  return {{"source", name_of(transport.source)},
          {"destination", name_of(transport.destination)},
          {"size_limit_bytes", size_limit_of(transport.size_limit_bytes)},
          {"transport", name_of(transport.transport)},
          {"reason", transport.reason},
          {"messages", transport.is_part ? 0 : transport.messages},
          {"bytes", transport.is_part ? 0 : transport.bytes},
          {"wire_bytes", transport.is_part ? 0 : transport.wire_bytes},
          {"parts", transport.is_part ? transport.messages : 0},
          {"part_bytes", transport.is_part ? transport.bytes : 0},
          {"median_gb_per_s", if_known(transport.median_gbps)},
          {"best_gb_per_s", if_known(transport.best_gbps)},
          {"counted_s", seconds(transport.counted_ns)},
          {"by_cause_s", seconds_by_cause(transport.by_cause)},
          {"within_clock_error_s", within_error(transport.within_error)}};
}

Json of(const MatrixCell& cell) {
  return {{"sender", cell.sender},
          {"receiver", cell.receiver},
          {"messages", cell.messages},
          {"bytes", cell.bytes},
          {"moving_s", seconds(cell.moving_ns)},
          {"gb_per_s", if_known(cell.gbps)},
          {"possible_gb_per_s", if_known(cell.possible_gbps)},
          {"transport", name_of(cell.transport)}};
}

Json of(const MatrixFigures& matrix) {
  return {{"ranks_per_block", matrix.ranks_per_block},
          {"pairs_without_row", matrix.dropped_pairs},
          {"pairs", list_of(matrix.pairs)},
          {"blocks", list_of(matrix.blocks)}};
}

Json of(const HandStagingFigures& staging) {
  return {{"at", staging.at},
          {"messages", staging.messages},
          {"bytes", staging.bytes},
          {"copies_s", seconds(staging.copies_ns)},
          {"exposed_copies_s", seconds(staging.exposed_copies_ns)}};
}

Json of(const LateReceiveFigures& late) {
  return {{"at", late.at},
          {"messages", late.messages},
          {"ready_s", seconds(late.ready_ns)},
          {"hides_s", seconds(late.hides_ns)},
          {"kernel", late.kernel}};
}

Json of(const CollectiveFigures& collective) {
  return {{"mpi_function", collective.mpi_function},
          {"size_limit_bytes", size_limit_of(collective.size_limit_bytes)},
          {"transport", name_of(collective.transport)},
          {"reason", collective.reason},
          {"calls", collective.calls},
          {"bytes", collective.bytes},
          {"waiting_s", seconds(collective.waiting_ns)},
          {"moving_s", seconds(collective.moving_ns)},
          {"median_gb_per_s", if_known(collective.median_gbps)},
          {"waiting_within_clock_error_s", within_error(collective.waiting_within_error_ns)}};
}

Json of(const LateRankFigures& late) {
  return {{"rank", late.rank},
          {"mpi_function", late.mpi_function},
          {"at", late.at},
          {"times", late.times},
          {"late_s", seconds(late.late_ns)},
          {"in_kernels_s", seconds(late.in_kernels_ns)},
          {"in_mpi_s", seconds(late.in_mpi_ns)},
          {"main_kernel", late.main_kernel},
          {"within_clock_error_s", within_error(late.within_error_ns)}};
}

}  // namespace penstock::analysis::json
